"""Single texts, pairs of texts, and texts with two entities as encoder inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from blurb.inputs.features import Features, Ragged
from blurb.inputs.tokenizer import Frame, Tokenizer

Span = tuple[int, int]


def encode_texts(texts: Sequence[str], tokenizer: Tokenizer, max_length: int) -> Features:
    """Features of single texts, truncated at the end if too long."""
    frame = tokenizer.frame
    room = _room(max_length, frame.prefix, frame.suffix)
    pieces = [piece.ids for piece in tokenizer.pieces(texts)]
    return _singles([ids[:room] for ids in pieces], frame, truncated=sum(len(ids) > room for ids in pieces))


def encode_pairs(
    first: Sequence[str],
    second: Sequence[str],
    tokenizer: Tokenizer,
    max_length: int,
    shorten: Literal["second", "longer"],
    places: bool = False,
) -> Features:
    """Features of pairs of texts.

    :param shorten: "second" truncates only the second text (the context of a question), as long as the first leaves
        room for it; "longer" is the Hub's `longest_first`: the longer text is truncated, down to equal halves, where
        the originally longer text (the second if tied) keeps the odd sub-token
    :param places: record the spans of the two texts as `Features.entities`
    """
    frame = tokenizer.frame
    room = _room(max_length, frame.prefix, frame.middle, frame.pair_suffix)
    ids, types, spans, truncated = [], [], [], 0
    for a, b in zip(tokenizer.pieces(first), tokenizer.pieces(second), strict=True):
        size_a, size_b = len(a.ids), len(b.ids)
        if size_a + size_b > room:
            truncated += 1
            if shorten == "second":
                size_a = min(size_a, room)
            elif size_a > size_b:
                size_a = room - min(size_b, room // 2)
            else:
                size_a = min(size_a, room // 2)
            size_b = min(size_b, room - size_a)
        ids.append(frame.pair(a.ids[:size_a], b.ids[:size_b]))
        types.append(frame.pair_types(size_a, size_b))
        start_b = len(frame.prefix) + size_a + len(frame.middle)
        spans.append([_span(len(frame.prefix), size_a), _span(start_b, size_b)])
    return Features(
        ids=Ragged.of(ids),
        types=None if frame.types is None else Ragged.of(row for row in types if row is not None),
        unit=np.arange(len(ids)),
        entities=np.array(spans, dtype=np.int64).reshape(-1, 2, 2) if places else None,
        truncated=truncated,
    )


def _span(start: int, size: int) -> Span:
    """The span of a text; an empty text gets the sub-token next to it."""
    return start, start + max(1, size)


def encode_relations(
    texts: Sequence[str], heads: Sequence[Span], tails: Sequence[Span], tokenizer: Tokenizer, max_length: int
) -> Features:
    """Features of texts with two entities; long texts are truncated around the entities, which are kept.

    :param heads, tails: character spans of the entities, end exclusive, markers included
    """
    frame = tokenizer.frame
    room = _room(max_length, frame.prefix, frame.suffix)
    rows, entities, windowed = [], [], 0
    for pieces, head, tail in zip(tokenizer.pieces(texts), heads, tails, strict=True):
        keep: list[range] = [range(len(pieces.ids))]
        places = [
            [i for i, (s, e) in enumerate(zip(pieces.starts, pieces.ends, strict=True)) if s < end and start < e]
            for start, end in (head, tail)
        ]
        if len(pieces.ids) > room:
            windowed += 1
            keep = around(sorted((place[0], place[-1] + 1) for place in places if place), len(pieces.ids), room)
        kept = [i for part in keep for i in part]
        rows.append([pieces.ids[i] for i in kept])
        entities.append([_places(place, kept, len(frame.prefix)) for place in places])
    features = _singles(rows, frame, windowed=windowed)
    return replace(features, entities=np.array(entities, dtype=np.int64).reshape(-1, 2, 2))


def _places(pieces: Sequence[int], kept: Sequence[int], prefix: int) -> Span:
    """The span of an entity among the kept pieces; the whole row if none of its pieces is left."""
    inside = set(pieces)
    found = [place + prefix for place, piece in enumerate(kept) if piece in inside]
    return (found[0], found[-1] + 1) if found else (0, max(1, prefix + len(kept)))


def around(spans: Sequence[Span], size: int, room: int) -> list[range]:
    """The `room` of `size` pieces to keep: one range centred on all spans if they fit, else one range around each.

    :param spans: piece spans sorted by start; without spans the start of the text is kept
    """
    if not spans:
        return [range(room)]
    low, high = spans[0][0], max(end for _, end in spans)
    if high - low <= room:
        start = min(max(0, (low + high - room) // 2), size - room)
        return [range(start, start + room)]
    # The two are further apart than the room: half of it around each; the text between is what is lost.
    half = room // 2
    (left,) = around([(spans[0][0], min(spans[0][1], spans[0][0] + half))], size, half)
    last = spans[-1]
    (right,) = around([(max(last[0], last[1] - (room - half)), last[1])], size, room - half)
    if (
        left.stop > right.start
    ):  # possible only if the second entity lies inside the first, which is longer than the room
        start = min(left.start, right.start, size - room)
        return [range(start, start + room)]
    return [left, right]


def _room(max_length: int, *special: tuple[int, ...]) -> int:
    return max(1, max_length - sum(map(len, special)))


def _singles(rows: list[list[int]], frame: Frame, truncated: int = 0, windowed: int = 0) -> Features:
    types = [frame.single_types(len(row)) for row in rows]
    return Features(
        ids=Ragged.of(frame.single(row) for row in rows),
        types=None if frame.types is None else Ragged.of(row for row in types if row is not None),
        unit=np.arange(len(rows)),
        truncated=truncated,
        windowed=windowed,
    )
