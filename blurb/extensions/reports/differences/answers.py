"""Differences of types with one answer an example: classes, labels of documents, similarity."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from blurb.extensions.reports.differences._base import (
    AS_FAR,
    BOTH_WRONG,
    CLOSER_A,
    CLOSER_B,
    ONLY_A,
    ONLY_B,
    RIGHT,
    Answer,
    Difference,
    Differences,
    Side,
    Text,
    by_kind,
)
from blurb.extensions.reports.errors import Mistake, ReportTable

COUNTED = ("both right", ONLY_A, ONLY_B, "both wrong, alike", "both wrong, differently")
Mistakes = Sequence[Mistake]


def classes(
    columns: Mapping[str, Sequence[Any]],
    other: Sequence[Any],
    mistakes: tuple[Mistakes, Mistakes],
    texts: Mapping[str, Mapping[str, Text]],
) -> Differences:
    """Compares answers that are right or wrong: a class, or a set of labels.

    :param columns: id, gold and prediction of A
    :param other: predictions of B for the same examples
    :param mistakes: those of A, and those of B
    :param texts: texts of the examples by id; empty without the data
    """
    kinds = [_kinds(of_side) for of_side in mistakes]
    counts: Counter[str] = Counter()
    examples = []
    for unit, gold, *given in zip(columns["id"], columns["gold"], columns["prediction"], other, strict=True):
        a, b = (Side(kinds[side].get(unit, RIGHT), _answer(given[side])) for side in (0, 1))
        right = [side.kind == RIGHT for side in (a, b)]
        if _same(*given) or all(right):
            counts["both right" if all(right) else "both wrong, alike"] += 1
            continue
        outcome = ONLY_A if right[0] else ONLY_B if right[1] else BOTH_WRONG
        counts["both wrong, differently" if outcome == BOTH_WRONG else outcome] += 1
        examples.append(Difference(unit, outcome, _answer(gold), a, b, _size(*given), texts.get(unit, {})))
    table = ReportTable("answers", ("", "examples"), [(name, counts[name]) for name in COUNTED])
    return Differences([table, *by_kind(examples, "examples")], examples)


def numbers(
    columns: Mapping[str, Sequence[Any]],
    other: Sequence[float],
    mistakes: tuple[Mistakes, Mistakes],
    texts: Mapping[str, Mapping[str, Text]],
) -> Differences:
    """Compares predicted scores: which one is closer to the annotators'? Parameters as of `classes`."""
    kinds = [_kinds(of_side) for of_side in mistakes]
    examples = []
    far: dict[str, list[tuple[float, float]]] = {name: [] for name in (CLOSER_A, CLOSER_B, AS_FAR)}
    for unit, gold, *given in zip(columns["id"], columns["gold"], columns["prediction"], other, strict=True):
        distance_a, distance_b = (abs(answer - gold) for answer in given)
        outcome = CLOSER_A if distance_a < distance_b else CLOSER_B if distance_b < distance_a else AS_FAR
        far[outcome].append((distance_a, distance_b))
        if size := abs(given[1] - given[0]):
            a, b = (Side(kinds[side].get(unit, RIGHT), float(given[side])) for side in (0, 1))
            examples.append(Difference(unit, outcome, float(gold), a, b, size, texts.get(unit, {})))
    rows = [
        (outcome, len(pairs), *(f"{statistics.fmean(side):.2f}" if pairs else "" for side in zip(*pairs, strict=True)))
        for outcome, pairs in far.items()
        if pairs
    ]
    table = ReportTable("distance to gold", ("", "pairs", "mean of A", "mean of B"), rows)
    return Differences([table, *by_kind(examples, "pairs")], examples)


def _kinds(mistakes: Mistakes) -> dict[str, str]:
    """The kind of mistake by example; a number that is exactly right is listed, too, with weight 0."""
    return {mistake.unit: mistake.kind for mistake in mistakes if mistake.weight}


def _same(first: Any, other: Any) -> bool:
    return bool(set(first) == set(other) if isinstance(first, list) else first == other)


def _answer(given: Any) -> Answer:
    return "; ".join(given) if isinstance(given, list) else str(given)


def _size(first: Any, other: Any) -> int:
    return len(set(first) ^ set(other)) if isinstance(first, list) else 1
