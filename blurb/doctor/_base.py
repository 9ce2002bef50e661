"""Faults, as a check finds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from blurb.grouping import by_key
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


def as_fault(error: BlurbError, where: Path | str, fix: str) -> Fault:
    """An error as a problem.

    :param where: of an error that names no place
    :param fix: if the error does not say what to do
    """
    advice = error.fix or fix
    first = advice.split(" ")[0]
    # A sentence begins with a capital; a command or a path stays as it is typed.
    if first.isalpha() and first not in ("blurb", "pip", "rm"):
        advice = advice[:1].upper() + advice[1:]
    if not advice.endswith("'"):  # of pip install 'NAME>=1', which is pasted
        advice = with_full_stop(advice)
    return Fault(error.where or str(where), with_full_stop(error.what), advice)


def list_faults(errors: Iterable[BlurbError], where: Path | str, fix: str) -> list[Fault]:
    """Errors as problems: of each file the first `SHOWN`, and how many more there are."""
    faults = []
    of_file = by_key((getattr(error, "path", None) or error.where, error) for error in errors)
    for file, alike in of_file.items():
        faults += [as_fault(error, where, fix) for error in alike[:SHOWN]]
        if (more := len(alike) - SHOWN) > 0:
            faults.append(
                Fault(str(file), f"And {more:,} more of this file.", "Fix those above first.")
            )
    return faults
