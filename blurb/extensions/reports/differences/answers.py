"""Differences of two trials, example by example, and their texts with parts marked: entities, for terminal and page.

Classes, labels of documents and similarity are compared by example, NER and PICO by entity.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict, get_args

from blurb.extensions.reports.errors import GOLD, ReportTable
from blurb.extensions.reports.errors.entities import CONTEXT, named, pairs
from blurb.inputs.tagging import Span, decode_spans
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


def word_pieces(tokens: Sequence[str], span: Span) -> Text:
    """A sentence with an entity marked.

    >>> [piece.text for piece in word_pieces(["a", "rare", "disease"], Span(1, 3, ""))]
    ['a ', 'rare disease']
    """
    pieces = (
        Piece("".join(f"{word} " for word in tokens[: span.start])),
        Piece(" ".join(tokens[span.start : span.end]), marked=True),
        Piece("".join(f" {word}" for word in tokens[span.end :])),
    )
    return tuple(piece for piece in pieces if piece.text)


def character_pieces(text: str, spans: Iterable[tuple[int, int]]) -> Text:
    """A text with spans of characters marked; those that overlap are marked as one.

    >>> character_pieces("@GENE$ and more", [(0, 6), (3, 6)])
    (Piece(text='@GENE$', marked=True), Piece(text=' and more', marked=False))
    """
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            start, before = merged.pop()
            end = max(end, before)
        merged.append((start, end))
    pieces, done = [], 0
    for start, end in merged:
        pieces += [Piece(text[done:start]), Piece(text[start:end], marked=True)]
        done = end
    return tuple(piece for piece in (*pieces, Piece(text[done:])) if piece.text)


def pieces_of(example: Mapping[str, Any], task_type: TaskType) -> dict[str, Text]:
    """The texts of an example by column; in `text` the entities of a relation are marked."""
    filled = {name: column for name, column in task_type.columns.items() if example.get(name)}
    spans = [
        (example[name]["start"], example[name]["end"])
        for name, column in filled.items()
        if column == "span"
    ]
    return {
        name: character_pieces(str(example[name]), spans if name == "text" else ())
        for name, column in filled.items()
        if column == "text" and name not in ANSWERS
    }


def shortened(text: Text, context: int = CONTEXT) -> Text:
    """The marks with some words around them; of a text without marks the first words.

    >>> shortened(word_pieces(list("abcdef"), Span(3, 4, "")), context=1)
    (Piece(text='... c ', marked=False), Piece(text='d', marked=True), Piece(text=' e ...', marked=False))
    """
    if not any(piece.marked for piece in text):
        words = "".join(piece.text for piece in text).split()
        is_long = len(words) > MOST_LETTERS
        return (Piece(" ".join(words[:MOST_LETTERS]) + " ..."),) if is_long else text
    pieces = list(text)
    if not pieces[0].marked and len(words := pieces[0].text.split(" ")) > context + 1:
        pieces[0] = Piece(" ".join(["...", *words[-context - 1 :]]))
    if not pieces[-1].marked and len(words := pieces[-1].text.split(" ")) > context + 1:
        pieces[-1] = Piece(" ".join([*words[: context + 1], "..."]))
    return tuple(pieces)


def bracketed(text: Text) -> str:
    """A text with its marks as brackets.

    >>> bracketed(word_pieces(["a", "rare", "disease"], Span(1, 3, "")))
    'a [rare disease]'
    """
    return "".join(f"[{piece.text}]" if piece.marked else piece.text for piece in text)


RIGHT = "right"
Outcome = Literal[
    "only A right", "only B right", "both wrong", "A closer", "B closer", "equally far"
]
OUTCOMES: tuple[str, ...] = get_args(Outcome)
ONLY_A, ONLY_B, BOTH_WRONG, CLOSER_A, CLOSER_B, AS_FAR = OUTCOMES
TwoAnswers = tuple[str, Any, Any, Any]
"""Id and gold answer of an example, and the predictions of A and of B."""
Answer = str | float
"""A number, or label names; "" if there is none, such as for an entity that was missed."""


class Different(TypedDict):
    """An example to which two trials give different answers."""

    id: Annotated[str, "id of the example"]
    outcome: Annotated[Outcome, "who is right, or closer"]
    kind_a: Annotated[str, "kind of A's mistake, or `right`"]
    kind_b: Annotated[str, "kind of B's mistake, or `right`"]
    gold: Annotated[str | float, GOLD]
    prediction_a: Annotated[str | float, "answer of A, likewise"]
    prediction_b: Annotated[str | float, "answer of B, likewise"]
    size: Annotated[float, "how far the two answers are from each other"]
    text: NotRequired[Annotated[str, "text of the example, with --with-text"]]


@dataclass(frozen=True)
class Difference:
    """An example, or an entity of one, to which two trials gave different answers.

    :param id: id of the example
    :param outcome: one of `OUTCOMES`
    :param kind_a: kind of A's mistake as in `blurb.extensions.reports.errors`, or `right`; `kind_b` likewise
    :param size: how far the two answers are from each other, in what the task type counts: words of entities,
        labels, points of similarity; 1 for classes
    :param texts: the text by name of its part, or of the answer that is marked in it (`gold`, `A`, `B`); empty
        without the data
    """

    id: str
    outcome: str
    kind_a: str
    kind_b: str
    gold: Answer
    prediction_a: Answer
    prediction_b: Answer
    size: float = 1
    texts: Mapping[str, Text] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text as one cell, marks in brackets."""
        several = len(self.texts) > 1
        return " / ".join(
            f"{name}: " * several + bracketed(part) for name, part in self.texts.items()
        )

    @property
    def group(self) -> str:
        """The outcome, and which mistake each side makes."""
        kinds = {"A": self.kind_a, "B": self.kind_b}
        made = [f"{name} {kind}" for name, kind in kinds.items() if kind != RIGHT]
        return f"{self.outcome}: {', '.join(made)}"

    @property
    def kinds(self) -> set[str]:
        """The kinds by which it can be selected: its outcome, and the kinds of mistakes in it."""
        return {self.outcome, self.kind_a, self.kind_b} - {RIGHT}


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
        ranked.append(
            (-example.size, turns[key], OUTCOMES.index(example.outcome), example.group, example)
        )
        turns[key] += 1
    return [example for *_, example in sorted(ranked, key=lambda one: one[:4])]


def by_kind(examples: Sequence[Difference], noun: str) -> list[ReportTable]:
    """A table of the differences of each outcome and kinds of both sides; none without differences."""
    counts = Counter((example.outcome, example.kind_a, example.kind_b) for example in examples)
    order = sorted(counts.items(), key=lambda one: (OUTCOMES.index(one[0][0]), -one[1], one[0]))
    rows = [(*names, count) for names, count in order]
    return [ReportTable("differences by kind", ("outcome", "A", "B", noun), rows)] if rows else []


COUNTED = ("both right", ONLY_A, ONLY_B, "both wrong, alike", "both wrong, differently")


def classes(
    answered: Iterable[TwoAnswers],
    kinds: Sequence[Mapping[str, str]],
    texts: Mapping[str, Mapping[str, Text]],
) -> Differences:
    """Compares answers that are right or wrong: a class, or a set of labels.

    :param kinds: id -> kind of mistake, of A and of B
    :param texts: texts of the examples by id; empty without the data
    """
    counts: Counter[str] = Counter()
    examples = []
    for unit, gold, *given in answered:
        kind_a, kind_b = (side.get(unit, RIGHT) for side in kinds)
        right = kind_a == RIGHT, kind_b == RIGHT
        labels = [set(each) if isinstance(each, list) else {each} for each in given]
        if labels[0] == labels[1] or all(right):
            counts["both right" if all(right) else "both wrong, alike"] += 1
            continue
        outcome = ONLY_A if right[0] else ONLY_B if right[1] else BOTH_WRONG
        counts["both wrong, differently" if outcome == BOTH_WRONG else outcome] += 1
        size = len(labels[0] ^ labels[1]) if isinstance(gold, list) else 1
        gold, a, b = map(_answer, (gold, *given))
        examples.append(
            Difference(unit, outcome, kind_a, kind_b, gold, a, b, size, texts.get(unit, {}))
        )
    table = ReportTable("answers", ("", "examples"), [(name, counts[name]) for name in COUNTED])
    return Differences([table, *by_kind(examples, "examples")], examples)


def numbers(
    answered: Iterable[TwoAnswers],
    kinds: Sequence[Mapping[str, str]],
    texts: Mapping[str, Mapping[str, Text]],
) -> Differences:
    """Compares predicted scores: which one is closer to the annotators'? Parameters as of `classes`."""
    examples = []
    far: dict[str, list[tuple[float, float]]] = {name: [] for name in (CLOSER_A, CLOSER_B, AS_FAR)}
    for unit, gold, *given in answered:
        distance_a, distance_b = (abs(answer - gold) for answer in given)
        outcome = (
            CLOSER_A if distance_a < distance_b else CLOSER_B if distance_b < distance_a else AS_FAR
        )
        far[outcome].append((distance_a, distance_b))
        if size := abs(given[1] - given[0]):
            kind_a, kind_b = (side.get(unit, RIGHT) for side in kinds)
            gold, a, b = map(float, (gold, *given))
            examples.append(
                Difference(unit, outcome, kind_a, kind_b, gold, a, b, size, texts.get(unit, {}))
            )
    rows = [
        (
            outcome,
            len(distances),
            *(f"{statistics.fmean(side):.2f}" for side in zip(*distances, strict=True)),
        )
        for outcome, distances in far.items()
        if distances
    ]
    table = ReportTable("distance to gold", ("", "pairs", "mean of A", "mean of B"), rows)
    return Differences([table, *by_kind(examples, "pairs")], examples)


def _answer(given: Any) -> Answer:
    return "; ".join(given) if isinstance(given, list) else str(given)


OUTCOME = {
    "found by both": "",
    "found by A only": ONLY_A,
    "found by B only": ONLY_B,
    "wrong in both, alike": "",
    "wrong in both, differently": BOTH_WRONG,
    "spurious in both": "",
    "spurious in A only": ONLY_B,
    "spurious in B only": ONLY_A,
}
"""The lines of the first table, and the outcome that each is; "" if the answers do not differ. Every gold entity is in
one of the first five, every predicted one that matches none in one of the others."""


class ComparedEntity(NamedTuple):
    """A gold entity, or a spurious one, with what both trials made of it.

    :param line: one of the lines of `OUTCOME`
    """

    line: str
    gold: Span | None
    kinds: tuple[str, str]
    given: tuple[Span | None, Span | None]

    def texts(self, tokens: Sequence[str]) -> dict[str, Text]:
        """The sentence with the gold entity marked, and with that of each trial that is wrong."""
        wrong = [
            (name, span)
            for name, kind, span in zip("AB", self.kinds, self.given, strict=True)
            if kind != RIGHT
        ]
        return {
            name: word_pieces(tokens, span)
            for name, span in [("gold", self.gold), *wrong]
            if span is not None
        }


def entities(answered: Iterable[TwoAnswers], units: Mapping[str, Mapping[str, Any]]) -> Differences:
    """Compares entities; in PICO these are runs of one label.

    :param units: the examples by id; empty without the data
    """
    counts: Counter[str] = Counter()
    examples = []
    for unit, gold, *given in answered:
        tokens = units.get(unit, {}).get("tokens", ())
        for entity in compared(*map(decode_spans, (gold, *given))):
            counts[entity.line] += 1
            if outcome := OUTCOME[entity.line]:
                # Else it is other data.
                texts = entity.texts(tokens) if len(tokens) == len(gold) else {}
                # The number of labels of words that only one of the two entities has.
                words = [
                    {(word, span.type) for word in range(span.start, span.end)} if span else set()
                    for span in entity.given
                ]
                size = len(words[0] ^ words[1])
                right, a, b = map(named, (entity.gold, *entity.given))
                examples.append(Difference(unit, outcome, *entity.kinds, right, a, b, size, texts))
    table = ReportTable("entities", ("", "entities"), [(name, counts[name]) for name in OUTCOME])
    return Differences([table, *by_kind(examples, "entities")], examples)


def compared(
    gold: Sequence[Span], first: Sequence[Span], other: Sequence[Span]
) -> Iterator[ComparedEntity]:
    """Every gold entity once, and every predicted one that is spurious in a trial, unless the other predicts it, too,
    and it stands there for a gold entity: that difference is told at the gold entity.
    """
    sides = [list(pairs(gold, given)) for given in (first, other)]
    by_span = [
        {
            right: (RIGHT if kind == "correct" else kind, given)
            for kind, right, given in side
            if right is not None
        }
        for side in sides
    ]
    for span in gold:
        (kind_a, a), (kind_b, b) = by_span[0][span], by_span[1][span]
        line = {
            (True, True): "found by both",
            (True, False): "found by A only",
            (False, True): "found by B only",
            (False, False): "wrong in both, alike" if a == b else "wrong in both, differently",
        }[kind_a == RIGHT, kind_b == RIGHT]
        yield ComparedEntity(line, span, (kind_a, kind_b), (a, b))
    spurious = [
        {given for kind, _, given in side if kind == "spurious" and given is not None}
        for side in sides
    ]
    for span in sorted(spurious[0] | spurious[1]):
        if span not in other:
            yield ComparedEntity("spurious in A only", None, ("spurious", RIGHT), (span, None))
        elif span not in first:
            yield ComparedEntity("spurious in B only", None, (RIGHT, "spurious"), (None, span))
        elif span in spurious[0] & spurious[1]:
            yield ComparedEntity("spurious in both", None, ("spurious", "spurious"), (span, span))
