"""Spans and tags. Examples carry the tags of their files (BIO for NER, `I-` alone for PICO); training uses BIO."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Span(NamedTuple):
    """An entity: words `start` to `end` (exclusive) of a sentence, and its type."""

    start: int
    end: int
    type: str


def spans(tags: Sequence[str]) -> list[Span]:
    """The entities of a tag sequence, read as seqeval reads it by default.

    A `B` starts one; so does an `I` after `O` or after another type. A run of `I-X` without `B` is therefore one span.

    >>> spans(["I-PAR", "I-PAR", "O", "B-INT", "B-INT", "I-INT"])
    [Span(start=0, end=2, type='PAR'), Span(start=3, end=4, type='INT'), Span(start=4, end=6, type='INT')]
    """
    found: list[Span] = []
    for place, tag in enumerate([*tags, "O"]):
        prefix, _, kind = tag.partition("-")
        open_ = found and found[-1].end < 0
        if open_ and not (prefix == "I" and kind == found[-1].type):
            found[-1] = found[-1]._replace(end=place)
            open_ = False
        if prefix != "O" and not open_:
            found.append(Span(place, -1, kind))
    return found


def bio_tags(entities: Sequence[Span], length: int) -> list[str]:
    """The BIO tags of a sentence of `length` words with these entities.

    >>> bio_tags([Span(0, 1, "PAR"), Span(1, 3, "PAR")], 4)
    ['B-PAR', 'B-PAR', 'I-PAR', 'O']
    """
    tags = ["O"] * length
    for start, end, kind in entities:
        tags[start:end] = [f"B-{kind}"] + [f"I-{kind}"] * (end - start - 1)
    return tags


def bio_labels(types: Sequence[str]) -> tuple[str, ...]:
    """All tags for these entity types; `O` comes first, so that index 0 is "no entity"."""
    return ("O", *(f"{prefix}-{kind}" for kind in types for prefix in "BI"))
