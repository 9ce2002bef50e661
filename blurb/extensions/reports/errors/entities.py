"""Errors of NER and PICO: entities that were missed or invented, or that have wrong boundaries or types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from blurb.data.seen import Mentions, mention_string
from blurb.extensions.reports.errors import Mistake, Report, ReportTable, share, tabulate_confusion
from blurb.inputs.tagging import Span, decode_spans
from blurb.tasks import Task

KINDS = ("correct", "boundary", "type", "boundary and type", "missed", "spurious")
LONGEST = 4
CONTEXT = 6
"""Words shown on either side of an entity."""


def analyse(
    task: Task,
    columns: Mapping[str, Sequence[Any]],
    rows: Mapping[str, Mapping[str, Any]],
    train: Sequence[Mapping[str, Any]],
) -> Report:
    """Kinds of mistakes; recall by length, and by whether the words are an entity in train, too.

    In PICO, which is scored by word, entities are runs of one label, and a table shows the confusion of words.
    """
    kinds: Counter[str] = Counter()
    by_length: Counter[tuple[str, bool]] = Counter()
    by_seen: Counter[tuple[str, bool]] = Counter()
    examples: list[Mistake] = []
    known = Mentions(task, train).strings
    for unit, gold, predicted in zip(
        columns["id"], columns["gold"], columns["prediction"], strict=True
    ):
        tokens = rows.get(unit, {}).get("tokens")
        for kind, right, given in pairs(decode_spans(gold), decode_spans(predicted)):
            kinds[kind] += 1
            if right is not None:
                length = right.end - right.start
                by_length[
                    str(length) if length < LONGEST else f"{LONGEST} or more", kind == "correct"
                ] += 1
                if tokens and train:
                    seen = "seen in train" if mention_string(tokens, right) in known else "unseen"
                    by_seen[seen, kind == "correct"] += 1
            if kind != "correct":
                examples.append(
                    Mistake(unit, kind, named(right), named(given), _context(tokens, right, given))
                )
    total = kinds.total() - kinds["correct"]
    tables = [
        ReportTable(
            "kinds of mistakes",
            ("kind", "entities", "% of mistakes"),
            [
                (kind, kinds[kind], "" if kind == "correct" else share(kinds[kind], total))
                for kind in KINDS
            ],
        ),
        _recall("gold entities by length", by_length, sorted({length for length, _ in by_length})),
    ]
    if by_seen:
        tables.append(
            _recall("gold entities by their words in train", by_seen, ("seen in train", "unseen"))
        )
    if len(task.labels) == 1:
        # Found at least in part, missed or invented.
        title, [label], no = "entities, also of other boundaries", task.labels, "none"
        matched = Counter({(label, no): kinds["missed"], (no, label): kinds["spurious"]})
        matched[label, label] = kinds.total() - matched.total()
        return Report(tables, examples, tabulate_confusion(title, "entity", [label, no], matched))
    counts = Counter(
        (right.partition("-")[2] or "O", given.partition("-")[2] or "O")
        for gold, predicted in zip(columns["gold"], columns["prediction"], strict=True)
        for right, given in zip(gold, predicted, strict=True)
    )
    names = [*task.labels, "O"]
    tables.append(tabulate_confusion("confusion matrix of words", "label", names, counts))
    return Report(tables, examples, tables[-1])


def pairs(
    gold: Sequence[Span], predicted: Sequence[Span]
) -> Iterator[tuple[str, Span | None, Span | None]]:
    """Matches gold and predicted entities; yields kind, gold entity and predicted entity, each entity once.

    Equal entities match first; of the others, those that overlap, the largest overlap first.
    """
    equal = set(gold) & set(predicted)
    yield from (("correct", span, span) for span in gold if span in equal)
    left = [span for span in gold if span not in equal]
    given = [span for span in predicted if span not in equal]
    overlaps = [
        (min(a.end, b.end) - max(a.start, b.start), -a.start, -b.start, a, b)
        for a in left
        for b in given
    ]
    overlaps.sort(reverse=True)
    used: set[tuple[str, Span]] = set()
    for size, _, _, a, b in overlaps:
        if size > 0 and ("gold", a) not in used and ("given", b) not in used:
            used |= {("gold", a), ("given", b)}
            same = (a.start, a.end) == (b.start, b.end)
            yield "type" if same else "boundary" if a.type == b.type else "boundary and type", a, b
    yield from (("missed", span, None) for span in left if ("gold", span) not in used)
    yield from (("spurious", None, span) for span in given if ("given", span) not in used)


def _recall(title: str, counts: Counter[tuple[str, bool]], names: Iterable[str]) -> ReportTable:
    rows = [
        (name, whole, counts[name, True], share(counts[name, True], whole))
        for name in names
        if (whole := counts[name, True] + counts[name, False])
    ]
    return ReportTable(title, ("words", "gold", "found", "recall"), rows)


def named(span: Span | None) -> str:
    """Type and words of an entity; "" for none."""
    return "" if span is None else f"{span.type or 'entity'} {span.start}-{span.end}"


def _context(tokens: Sequence[str] | None, right: Span | None, given: Span | None) -> str:
    """The words around a mistake, with the gold entity in [ ] and the predicted one in { }."""
    if not tokens:
        return ""
    there = [span for span in (right, given) if span is not None]
    low = max(0, min(span.start for span in there) - CONTEXT)
    high = min(len(tokens), max(span.end for span in there) + CONTEXT)
    words = list(tokens)
    for span, (opens, closes) in ((right, "[]"), (given, "{}")):
        if span is not None:
            words[span.start] = opens + words[span.start]
            words[span.end - 1] += closes
    return (
        ("... " if low else "") + " ".join(words[low:high]) + (" ..." if high < len(tokens) else "")
    )
