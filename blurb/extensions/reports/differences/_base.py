"""What a comparison of two trials, example by example, results in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from blurb.extensions.reports.differences.texts import Text, bracketed
from blurb.extensions.reports.errors import Table

RIGHT = "right"
ONLY_A, ONLY_B, BOTH_WRONG = "only A right", "only B right", "both wrong"
CLOSER_A, CLOSER_B, AS_FAR = "A closer", "B closer", "equally far"
OUTCOMES = (ONLY_A, ONLY_B, BOTH_WRONG, CLOSER_A, CLOSER_B, AS_FAR)
Answer = str | float
"""A number, or label names; "" if there is none, such as for an entity that was missed."""


@dataclass(frozen=True)
class Side:
    """The answer of one trial to an example, or for an entity.

    :param kind: kind of its mistake as in `blurb.extensions.reports.errors`, or `right`
    """

    kind: str
    answer: Answer


@dataclass(frozen=True)
class Difference:
    """An example, or an entity of one, to which two trials gave different answers.

    :param unit: id of the example
    :param outcome: one of `OUTCOMES`
    :param size: how far the two answers are from each other, in what the task type counts: words of entities,
        labels, points of similarity; 1 for classes
    :param texts: the text by name of its part, or of the answer that is marked in it (`gold`, `A`, `B`); empty
        without the data
    """

    unit: str
    outcome: str
    gold: Answer
    first: Side
    other: Side
    size: float = 1
    texts: Mapping[str, Text] = field(default_factory=dict)

    @property
    def cells(self) -> tuple[object, ...]:
        """As a line of a table (`blurb diff --format csv`); the text is one cell, marks in brackets."""
        parts = {name: bracketed(text) for name, text in self.texts.items()}
        text = (
            " / ".join(f"{name}: {part}" for name, part in parts.items()) if len(parts) > 1 else "".join(parts.values())
        )
        answers = self.gold, self.first.answer, self.other.answer
        return self.unit, self.outcome, self.first.kind, self.other.kind, *answers, self.size, text

    @property
    def group(self) -> str:
        """The outcome, and which mistake each side makes."""
        made = [f"{name} {side.kind}" for name, side in (("A", self.first), ("B", self.other)) if side.kind != RIGHT]
        return f"{self.outcome}: {', '.join(made)}"

    @property
    def kinds(self) -> tuple[str, ...]:
        """What it can be chosen by: its outcome, and the kinds of mistakes in it."""
        return tuple(dict.fromkeys(name for name in (self.outcome, self.first.kind, self.other.kind) if name != RIGHT))


@dataclass(frozen=True)
class Differences:
    """Counts, and every difference, the largest first (`in_order`)."""

    tables: Sequence[Table]
    examples: Sequence[Difference]


def in_order(examples: Iterable[Difference]) -> list[Difference]:
    """The largest differences first; among those of one size the groups take turns, so that the first show all kinds.

    Classes, whose differences are all of one size, would else begin with many of one group.
    """
    turns: Counter[tuple[float, str]] = Counter()
    ranked = []
    for example in examples:
        key = (example.size, example.group)
        ranked.append((-example.size, turns[key], OUTCOMES.index(example.outcome), example.group, example))
        turns[key] += 1
    return [example for *_, example in sorted(ranked, key=lambda one: one[:4])]


def grouped(examples: Iterable[Difference]) -> dict[str, list[Difference]]:
    """The differences by group; the group of the first one first."""
    groups: dict[str, list[Difference]] = {}
    for example in examples:
        groups.setdefault(example.group, []).append(example)
    return groups


def by_kind(examples: Sequence[Difference], noun: str) -> list[Table]:
    """A table of the differences of each outcome and kinds of both sides; none without differences."""
    counts = Counter((example.outcome, example.first.kind, example.other.kind) for example in examples)
    order = sorted(counts.items(), key=lambda one: (OUTCOMES.index(one[0][0]), -one[1], one[0]))
    rows = [(*names, count) for names, count in order]
    return [Table("differences by kind", ("outcome", "A", "B", noun), rows)] if rows else []
