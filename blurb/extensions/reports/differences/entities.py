"""Differences of NER and PICO: entities that one trial found and the other did not, or that both have wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from blurb.extensions.reports.differences._base import (
    BOTH_WRONG,
    ONLY_A,
    ONLY_B,
    RIGHT,
    Difference,
    Differences,
    Side,
    Text,
    by_kind,
    of_words,
)
from blurb.extensions.reports.errors import ReportTable
from blurb.extensions.reports.errors.entities import named, pairs
from blurb.inputs.tagging import Span, spans

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


def analyse(
    columns: Mapping[str, Sequence[Any]], other: Sequence[Sequence[str]], units: Mapping[str, Mapping[str, Any]]
) -> Differences:
    """Compares entities; in PICO these are runs of one label.

    :param columns: id, gold and prediction of A
    :param other: predictions of B for the same examples
    :param units: the examples by id; empty without the data
    """
    counts: Counter[str] = Counter()
    examples = []
    for unit, gold, *given in zip(columns["id"], columns["gold"], columns["prediction"], other, strict=True):
        tokens = units.get(unit, {}).get("tokens", ())
        for pair in compared(spans(gold), spans(given[0]), spans(given[1])):
            counts[pair.line] += 1
            if outcome := OUTCOME[pair.line]:
                texts = _texts(tokens, pair) if len(tokens) == len(gold) else {}  # else it is other data
                a, b = (Side(kind, named(span)) for kind, span in zip(pair.kinds, pair.given, strict=True))
                examples.append(Difference(unit, outcome, named(pair.gold), a, b, _size(*pair.given), texts))
    table = ReportTable("entities", ("", "entities"), [(name, counts[name]) for name in OUTCOME])
    return Differences([table, *by_kind(examples, "entities")], examples)


def compared(gold: Sequence[Span], first: Sequence[Span], other: Sequence[Span]) -> Iterator[ComparedEntity]:
    """Every gold entity once, and every predicted one that is spurious in a trial, unless the other predicts it, too,
    and it stands there for a gold entity: that difference is told at the gold entity.
    """
    sides = [list(pairs(gold, given)) for given in (first, other)]
    by_span = [
        {right: (RIGHT if kind == "correct" else kind, given) for kind, right, given in side if right is not None}
        for side in sides
    ]
    for span in gold:
        (kind_a, a), (kind_b, b) = by_span[0][span], by_span[1][span]
        yield ComparedEntity(_line(kind_a, kind_b, a == b), span, (kind_a, kind_b), (a, b))
    spurious = [{given for kind, _, given in side if kind == "spurious" and given is not None} for side in sides]
    for span in sorted(spurious[0] | spurious[1]):
        if span not in other:
            yield ComparedEntity("spurious in A only", None, ("spurious", RIGHT), (span, None))
        elif span not in first:
            yield ComparedEntity("spurious in B only", None, (RIGHT, "spurious"), (None, span))
        elif span in spurious[0] & spurious[1]:
            yield ComparedEntity("spurious in both", None, ("spurious", "spurious"), (span, span))


def _line(first: str, other: str, alike: bool) -> str:
    match first == RIGHT, other == RIGHT:
        case True, True:
            return "found by both"
        case True, False:
            return "found by A only"
        case False, True:
            return "found by B only"
    return "wrong in both, alike" if alike else "wrong in both, differently"


def _size(first: Span | None, other: Span | None) -> int:
    """The number of labels of words that only one of two entities has."""
    words = [{(word, span.type) for word in range(span.start, span.end)} if span else set() for span in (first, other)]
    return len(words[0] ^ words[1])


def _texts(tokens: Sequence[str], one: ComparedEntity) -> dict[str, Text]:
    """The sentence with the gold entity marked, and with that of each trial that is wrong."""
    wrong = [(name, span) for name, kind, span in zip("AB", one.kinds, one.given, strict=True) if kind != RIGHT]
    marked = {"gold": one.gold, **dict(wrong)}
    return {name: of_words(tokens, span) for name, span in marked.items() if span is not None}
