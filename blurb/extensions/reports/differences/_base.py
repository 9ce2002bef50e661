"""What a comparison of two trials, example by example, results in.

Text of an example with parts of it marked: entities, for terminal and page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from blurb.extensions.reports.errors import ReportTable
from blurb.extensions.reports.errors.entities import CONTEXT
from blurb.inputs.tagging import Span
from blurb.tasks import TaskType

MOST_LETTERS = 40
"""Words that `shortened` keeps of a text without marks."""
ANSWERS = ("doc_id", "label")
"""Columns of text that are no text to read."""


class Piece(NamedTuple):
    """A part of a text."""

    text: str
    marked: bool = False


Text = tuple[Piece, ...]


def of_words(tokens: Sequence[str], span: Span) -> Text:
    """A sentence with an entity marked.

    >>> [piece.text for piece in of_words(["a", "rare", "disease"], Span(1, 3, ""))]
    ['a ', 'rare disease']
    """
    before, inside, after = tokens[: span.start], tokens[span.start : span.end], tokens[span.end :]
    pieces = (
        Piece("".join(f"{word} " for word in before)),
        Piece(" ".join(inside), marked=True),
        Piece("".join(f" {word}" for word in after)),
    )
    return tuple(piece for piece in pieces if piece.text)


def of_characters(text: str, spans: Iterable[tuple[int, int]]) -> Text:
    """A text with spans of characters marked; those that overlap are marked as one.

    >>> of_characters("@GENE$ and more", [(0, 6), (3, 6)])
    (Piece(text='@GENE$', marked=True), Piece(text=' and more', marked=False))
    """
    pieces, done = [], 0
    for start, end in _merged(spans):
        pieces += [Piece(text[done:start]), Piece(text[start:end], marked=True)]
        done = end
    pieces.append(Piece(text[done:]))
    return tuple(piece for piece in pieces if piece.text)


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def of_example(example: Mapping[str, Any], task_type: TaskType) -> dict[str, Text]:
    """The texts of an example by column; in `text` the entities of a relation are marked."""
    columns = task_type.columns
    entities = [example[name] for name, column in columns.items() if column == "span" and example.get(name)]
    spans = [(entity["start"], entity["end"]) for entity in entities]
    names = [name for name, column in columns.items() if column == "text" and name not in ANSWERS]
    return {
        name: of_characters(str(example[name]), spans if name == "text" else ()) for name in names if example.get(name)
    }


def shortened(text: Text, context: int = CONTEXT, most: int = MOST_LETTERS) -> Text:
    """The marks with some words around them; of a text without marks the first words.

    >>> shortened(of_words(list("abcdef"), Span(3, 4, "")), context=1)
    (Piece(text='... c ', marked=False), Piece(text='d', marked=True), Piece(text=' e ...', marked=False))
    """
    if not any(piece.marked for piece in text):
        words = "".join(piece.text for piece in text).split()
        return (Piece(" ".join(words[:most]) + " ..."),) if len(words) > most else text
    pieces = list(text)
    if not pieces[0].marked and len(words := pieces[0].text.split(" ")) > context + 1:
        pieces[0] = Piece(" ".join(["...", *words[-context - 1 :]]))
    if not pieces[-1].marked and len(words := pieces[-1].text.split(" ")) > context + 1:
        pieces[-1] = Piece(" ".join([*words[: context + 1], "..."]))
    return tuple(pieces)


def bracketed(text: Text) -> str:
    """A text with its marks as brackets.

    >>> bracketed(of_words(["a", "rare", "disease"], Span(1, 3, "")))
    'a [rare disease]'
    """
    return "".join(f"[{piece.text}]" if piece.marked else piece.text for piece in text)


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

    tables: Sequence[ReportTable]
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


def by_kind(examples: Sequence[Difference], noun: str) -> list[ReportTable]:
    """A table of the differences of each outcome and kinds of both sides; none without differences."""
    counts = Counter((example.outcome, example.first.kind, example.other.kind) for example in examples)
    order = sorted(counts.items(), key=lambda one: (OUTCOMES.index(one[0][0]), -one[1], one[0]))
    rows = [(*names, count) for names, count in order]
    return [ReportTable("differences by kind", ("outcome", "A", "B", noun), rows)] if rows else []
