"""What an analysis returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Counts under a title; nothing in it is text of a corpus."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[object, ...]]


@dataclass(frozen=True)
class Mistake:
    """One mistake.

    :param unit: id of the test unit
    :param kind: of mistake
    :param gold: the right answer, by label
    :param predicted: the answer given
    :param text: the unit with the place marked; empty unless the data were at hand
    :param weight: how large the mistake is; the largest are shown first
    """

    unit: str
    kind: str
    gold: str
    predicted: str
    text: str = ""
    weight: float = 1.0


@dataclass(frozen=True)
class Report:
    """Tables, and every mistake."""

    tables: Sequence[Table]
    examples: Sequence[Mistake]


def share(part: float, whole: float) -> str:
    """A percentage, or nothing of nothing."""
    return f"{100 * part / whole:.1f}" if whole else ""
