"""Faults, as a check finds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from blurb.messages import BlurbError, with_full_stop
from blurb.records import Rule

Subject = Literal[
    "environment",
    "store",
    "trial",
    "checkpoint",
    "data",
    "task file",
    "protocol",
    "run file",
    "rules",
    "table",
]
Fact = str | int | bool | None
"""A number where it is one, `None` where there is none; sizes are in bytes."""
SHOWN = 20
"""Problems of one file that are listed; more of them have one cause."""


@dataclass(frozen=True)
class Fault:
    """Something that is wrong.

    :param where: file (and line), folder, package or setting
    :param what: what is wrong with it
    :param fix: what to do about it
    """

    where: str
    what: str
    fix: str


@dataclass(frozen=True)
class Diagnosis:
    """All that is wrong with one thing.

    :param kind: what it was taken for
    :param subject: its path; "" for the environment
    :param problems: all that is wrong
    :param facts: what is known of it, by name; the names of sizes end in `bytes`
    """

    kind: Subject
    subject: str
    problems: Sequence[Fault]
    facts: Mapping[Annotated[str, Rule("pattern", "^[a-z0-9_]+$")], Fact] = field(
        default_factory=dict
    )


def as_fault(error: BlurbError | OSError, where: Path | str, fix: str) -> Fault:
    """An error as a problem.

    :param where: of an error that names no place
    :param fix: if the error does not say what to do
    """
    if isinstance(error, OSError):
        return Fault(str(where), with_full_stop(str(error)), fix)
    return Fault(error.where or str(where), with_full_stop(error.what), sentence(error.fix or fix))


def sentence(text: str) -> str:
    """A text with a full stop, and with a capital if it begins with a plain word and no command."""
    first = text.split(" ")[0]
    return with_full_stop(
        text[:1].upper() + text[1:]
        if first.isalpha() and first not in ("blurb", "pip", "rm")
        else text
    )


def few(problems: Sequence[Fault], where: Path | str) -> list[Fault]:
    """At most `SHOWN` problems of one file, and how many more there are."""
    more = len(problems) - SHOWN
    if more <= 0:
        return list(problems)
    return [
        *problems[:SHOWN],
        Fault(str(where), f"And {more:,} more of this file.", "Fix those above first."),
    ]
