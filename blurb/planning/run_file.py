"""A whole run as a TOML file: its keys are the options of `blurb run`, and `[set]` is a table of settings.

A file names data and never code, over any number of hops: the targets of its references are checked, too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from blurb import fields, tasks
from blurb.execution.engines import DEFAULT, engines
from blurb.messages import ErrorCollector, SettingsError
from blurb.planning.options import LIMITED, RUN, RunOptions
from blurb.protocols import protocol as protocols
from blurb.protocols.settings import TABLE, parse_overrides
from blurb.system import text_files

CODE = {"head", "pooling"}
"""Settings whose value may be code, `FILE.py:CLASS` or `package.module:Class`."""
FILES = {"protocol": ".toml", "tasks": ".toml", "models": "", "rules": "", "suite": ""}
"""Keys that may name another file, of a suite its folder -> how the names of such files end."""
NO_KEYS = ("config", "dry_run")
"""Options about the file itself."""
KEY = {
    name: about.flag.removeprefix("--") or name
    for name, _, _, about in RUN.values()
    if name not in NO_KEYS
}
"""Option -> its key in the file."""


def with_file(given: Mapping[str, Any]) -> dict[str, Any]:
    """The given options over those of the file named by `config`; raises all faults of the file."""
    if given.get("config") is None:
        return dict(given)
    values = read(Path(given["config"]))
    option = {key: name for name, key in KEY.items()}
    options = {option.get(key, key): value for key, value in values.items()}
    typed = given.get("settings", {})
    short = {
        *given,
        *(LIMITED if "limit" in given else ()),
        *(["relation_input"] if "dummy_tokens" in given else []),
    }
    own = {name: value for name, value in options.pop("settings", {}).items() if name not in short}
    kept = {name: value for name, value in options.items() if name not in typed}
    return {**kept, **given, "settings": {**own, **typed}}


def read(path: Path) -> dict[str, Any]:
    """The values of a file by key; raises all its faults."""
    errors = ErrorCollector()
    # A file has texts only, not the other types that Python takes.
    keys: dict[str, fields.Field] = {
        KEY[name]: replace(about, kind=str) if about.kind is object else about
        for name, _, _, about in RUN.values()
        if name in KEY
    }
    keys |= dict.fromkeys(("model", "tasks"), replace(fields.TEXTS, filled=True))
    keys["set"] = TABLE
    keys |= {key: replace(keys[key], parse=partial(_resolve_beside, path, key)) for key in FILES}
    values = fields.read_table(
        text_files.read_toml(path), fields.Field(dict, keys=keys, noun="option"), path, errors
    )
    # Files name registered plug-ins; only a person may type code.
    protocol, engine = str(values.get("protocol", "")), str(values.get("engine", DEFAULT))
    code = _code_in([values, values.get("set", {})])
    if values.get("trust_remote_code"):
        code["trust_remote_code"] = "true"
    if protocol.endswith(FILES["protocol"]):
        with errors:
            if inner := _code_in(protocols.read(protocol, errors).tables):
                code["protocol"] = f"{protocol} with {', '.join(inner.values())}"
    with errors:
        name, *options = engine.split(",")
        given = {option.partition("=")[0].strip().replace("-", "_") for option in options}
        if ":" in name or not given <= {*engines.get(name.strip()).of_file}:
            code["engine"] = engine
    for key, value in code.items():
        errors.add(
            SettingsError(
                f"a file runs no code, and {key} = {value} would",
                where=path,
                fix=f"type --{key.replace('_', '-')} instead.",
            )
        )
    errors.stop()
    return values


def _resolve_beside(path: Path, key: str, given: Any) -> Any:
    """The value of a key with the files that it names; a SettingsError unless they are below the folder of this one."""
    words = given if isinstance(given, list) else given.split(",") if key == "tasks" else [given]
    names = tasks.suite_names() if key == "suite" else ()
    places = {
        word: path.parent / word.strip()
        for word in words
        if word.strip().endswith(FILES[key]) and word not in names
    }
    folder = os.path.realpath(path.parent)
    below = (word for word in places if Path(os.path.realpath(places[word])).is_relative_to(folder))
    if out := sorted(places.keys() - below):
        raise SettingsError(
            f"{out[0]!r} is not below the folder of this file", fix=f"type --{key} instead."
        )
    for place in places.values() if key == "suite" else ():
        tasks.load_suite(place)
    found = [str(places.get(word, word)) for word in words]
    return found if isinstance(given, list) else ",".join(found)


def _code_in(tables: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The settings in tables whose values are code."""
    return {
        key: str(one[key]) for one in tables for key in CODE & one.keys() if ":" in str(one[key])
    }


def write(options: RunOptions) -> str:
    """Writes the file of a run, from which the same run can be read; options with default values are left out."""
    given = {name: getattr(options, name) for name in KEY if name != "settings"}
    defaults = vars(RunOptions())
    lines = [f"model = {_toml_value(options.model)}"]
    lines += [
        f"{KEY[name]} = {_toml_value(value)}"
        for name, value in given.items()
        if value != defaults[name]
    ]
    settings = parse_overrides(options.settings)
    if settings:
        lines += [
            "",
            "[set]",
            *(f"{name} = {_toml_value(value)}" for name, value in settings.items()),
        ]
    return "\n".join([*lines, ""])


def _toml_value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    return json.dumps(str(value) if isinstance(value, Path) else value, ensure_ascii=False).replace(
        "\x7f", "\\u007f"
    )
