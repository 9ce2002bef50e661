"""What a case is: commands in a folder with inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

INPUTS = ("store", "before", "today", "tables", "ablations", "data", "golden-encoder")


@dataclass(frozen=True, eq=False)
class Case:
    """Commands that run one after the other in a folder of their own, in which the inputs are.

    :param name: path below `rendered/`, without an ending
    :param commands: as typed behind `blurb`
    :param terminal: standard output is a terminal of 120 columns, else a pipe
    :param changes: inputs that the commands, or `prepare`, change: they get a copy
    :param models: folders of models that `today` has for it; empty: all (looking through all of them takes a while)
    :param files: what lies in the folder besides
    :param prepare: is called with the folder before the first command
    :param whole: files that were written are kept whole, however long
    :param typed: on standard input
    :param varying: patterns of what differs from run to run, and what stands there instead
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


def formats(name: str, command: str, forms: Sequence[str] = ("csv", "json")) -> list[Case]:
    """A command on a terminal, and in the formats for machines."""
    return [
        Case(f"{name}-terminal", [command], terminal=True),
        *(Case(f"{name}-{form}", [f"{command} --format {form}"]) for form in forms),
    ]


def of(models: Sequence[str], cases: Sequence[Case]) -> list[Case]:
    """Cases with these models in `today`, where they do not say which."""
    return [case if case.models else replace(case, models=models) for case in cases]
