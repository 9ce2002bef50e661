"""Results of an error analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ReportTable:
    """Counts with a title; contains no text of a corpus."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[object, ...]]


@dataclass(frozen=True)
class Mistake:
    """One wrong prediction.

    :param unit: id of the example
    :param kind: kind of mistake
    :param gold: the gold answer: label names, "" for none, or a number
    :param predicted: the predicted answer, likewise
    :param text: text of the example with the mistake marked; empty without the data
    :param weight: size of the mistake; the largest are shown first
    """

    unit: str
    kind: str
    gold: str | float
    predicted: str | float
    text: str = ""
    weight: float = 1.0


@dataclass(frozen=True)
class Report:
    """Tables and all mistakes.

    :param confusion: counts of each gold answer by the predicted one; None where there is no one answer to an example
    """

    tables: Sequence[ReportTable]
    examples: Sequence[Mistake]
    confusion: ReportTable | None = None


def share(part: float, whole: float) -> str:
    """A percentage; "" if `whole` is 0."""
    return f"{100 * part / whole:.1f}" if whole else ""
