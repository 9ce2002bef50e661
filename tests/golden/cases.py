"""The cases of `cases.toml`: commands in a folder with inputs, whose output is committed."""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

from tests.golden import _changes

INPUTS = ("store", "before", "today", "tables", "ablations", "data", "golden-encoder")
CLOCK = {r' time="[\d.]+"': ' time="SECONDS"', r' timestamp="[^"]+"': ' timestamp="TIME"'}
"""Patterns of what JUnit files say of the clock."""


@dataclass(frozen=True, eq=False)
class Case:
    """Commands that run one after the other in a folder of their own, in which the inputs are.

    :param name: path below `rendered/`, without an ending
    :param commands: as typed behind `blurb`
    :param terminal: standard output is a terminal of 120 columns, else a pipe
    :param changes: inputs that the commands, or `prepare`, change: they get a copy
    :param models: folders of models that `today` has for it; empty: all (looking through all of them takes a while)
    :param files: what lies in the folder besides
    :param prepare: is called with the folder before the first command; in `cases.toml` a function of `_changes.py`
    :param whole: files that were written are kept whole, however long
    :param typed: on standard input
    :param varying: patterns of what differs from run to run, and what stands there instead; `clock` adds `CLOCK`
    """

    name: str
    commands: Sequence[str]
    terminal: bool = False
    changes: Sequence[str] = ()
    models: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    prepare: Callable[[Path], None] | None = None
    whole: bool = False
    typed: str = ""
    varying: Mapping[str, str] = field(default_factory=dict)


CONTENT: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_name("cases.toml").read_text(encoding="utf-8")
)
LEFT_OUT = [option for options in CONTENT["left_out"].values() for option in options]
"""Options that no case has."""


def _cases(table: Mapping[str, Any], models: Sequence[str]) -> Iterator[Case]:
    """The case of a table, or one for a terminal and one for each of its `formats`."""
    values = {"models": models, **table}
    formats = values.pop("formats", ())
    values["commands"] = [
        Template(command).substitute(CONTENT["words"]) for command in values["commands"]
    ]
    if "prepare" in values:
        values["prepare"] = getattr(_changes, values["prepare"])
    if values.pop("clock", False):
        values["varying"] = CLOCK | values.get("varying", {})
    if not formats:
        yield Case(**values)
        return
    name, (command,) = values.pop("name"), values.pop("commands")
    yield Case(f"{name}-terminal", [command], terminal=True, **values)
    for form in formats:
        yield Case(f"{name}-{form}", [f"{command} --format {form}"], **values)


CASES = [
    case
    for group in CONTENT["group"]
    for table in group["case"]
    for case in _cases(table, group.get("models", ()))
]
