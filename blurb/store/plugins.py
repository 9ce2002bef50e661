"""The code of plug-ins, which is part of a trial's identity.

The settings know a head, pooling or formulation from elsewhere only by its name; after an edit, its trials would still
count as done. Therefore the hash of its module's source and its resolved options enter the trial's hash. Modules that
it imports do not: after changing a helper, change the plug-in's file as well.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from blurb import formulations
from blurb.heads import heads, poolings
from blurb.heads._spec import parse_spec, plugin_options
from blurb.learners import LearnerKind, kinds
from blurb.messages import SettingsError
from blurb.registry import Registry
from blurb.system.files import json_hash
from blurb.tasks import Task

KINDS: dict[str, Registry[Any]] = {"head": heads, "pooling": poolings}


def identity(task: Task, settings: Mapping[str, Any], kind: LearnerKind) -> dict[str, str]:
    """Setting -> hash of the plug-in that it names; `formulation TYPE` and `learner` if these are plug-ins.

    :param settings: the settings that are part of the trial
    """
    hashes = {}
    for setting, registry in KINDS.items():
        text = str(settings.get(setting, ""))
        if text and registry.is_plugin(text.split(",")[0].strip()):
            plugin, chosen = parse_spec(registry, text)
            hashes[setting] = _hash_of_plugin(plugin, {**plugin_options(plugin), **chosen})
    hashes[f"formulation {task.type}"] = formulation_hash(task)
    if kinds.is_plugin(kind.name):
        hashes["learner"] = _hash_of_plugin(kind.load("learner"), {})
    return {setting: digest for setting, digest in hashes.items() if digest}


def formulation_hash(task: Task) -> str:
    """Hash of the formulation of a task; "" if it is built in."""
    return _hash_of_plugin(formulations.of(task), {})


Typed = Mapping[str, Mapping[str, Path | None]]
"""Setting -> name of a plug-in -> its file, None for a plug-in of a module."""


def typed() -> Typed:
    """The plug-ins that were typed in this process; its workers need them, too."""
    return {setting: dict(registry.typed) for setting, registry in KINDS.items()}


def remember(known: Typed) -> None:
    """Registers plug-ins that were typed in the process that started this one, or whose code a person allowed."""
    for setting, paths in known.items():
        KINDS[setting].typed.update(paths)


def load(setting: str, text: str) -> None:
    """Loads the plug-in of a setting that a person typed, such as `./my_head.py:MyHead,hidden=128`."""
    KINDS[setting].load(text.split(",")[0].strip())


def load_all(tables: Iterable[Mapping[str, Any]]) -> None:
    """Loads the plug-ins in tables of settings that a person typed, or of a file that a person named."""
    for table in tables:
        for setting in KINDS.keys() & table.keys():
            if table[setting] is not None:
                load(setting, str(table[setting]))


def _hash_of_plugin(plugin: type, options: Mapping[str, Any]) -> str:
    """Hash of a plug-in's source and options; "" for a built-in class."""
    if plugin.__module__.partition(".")[0] == "blurb":
        return ""
    try:
        source = Path(inspect.getsourcefile(plugin) or "").read_bytes()
    except (OSError, TypeError) as error:
        raise SettingsError(
            f"Cannot read the source of {plugin.__module__}.{plugin.__qualname__}, which is needed to distinguish "
            f"trials with different versions of it: {error}."
        ) from error
    return json_hash([hashlib.sha256(source).hexdigest(), dict(options)])[:16]
