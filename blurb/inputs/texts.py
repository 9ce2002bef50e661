"""Single texts, pairs of texts, and texts with two entities as encoder inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from blurb.inputs.features import Features, Ragged
from blurb.inputs.tokenizer import SpecialTokens, Tokenizer

Span = tuple[int, int]


def encode_texts(texts: Sequence[str], tokenizer: Tokenizer, max_length: int) -> Features:
    """Features of single texts, truncated at the end if too long."""
    special_tokens = tokenizer.special_tokens
    room = _room_for_text(max_length, special_tokens.prefix, special_tokens.suffix)
    subtokens = [piece.ids for piece in tokenizer.subtokens(texts)]
    return _single_rows(
        [ids[:room] for ids in subtokens],
        special_tokens,
        truncated=sum(len(ids) > room for ids in subtokens),
    )


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
    special_tokens = tokenizer.special_tokens
    room = _room_for_text(
        max_length, special_tokens.prefix, special_tokens.middle, special_tokens.pair_suffix
    )
    ids, types, spans, truncated = [], [], [], 0
    for a, b in zip(tokenizer.subtokens(first), tokenizer.subtokens(second), strict=True):
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
        ids.append(special_tokens.pair(a.ids[:size_a], b.ids[:size_b]))
        types.append(special_tokens.pair_types(size_a, size_b))
        start_b = len(special_tokens.prefix) + size_a + len(special_tokens.middle)
        spans.append(
            [_span_of_text(len(special_tokens.prefix), size_a), _span_of_text(start_b, size_b)]
        )
    return Features(
        ids=Ragged.of(ids),
        token_type_ids=special_tokens.segments(types),
        example_index=np.arange(len(ids)),
        entities=np.array(spans, dtype=np.int64).reshape(-1, 2, 2) if places else None,
        truncated=truncated,
    )


def _span_of_text(start: int, size: int) -> Span:
    """The span of a text; an empty text gets the sub-token next to it."""
    return start, start + max(1, size)


def encode_relations(
    texts: Sequence[str],
    heads: Sequence[Span],
    tails: Sequence[Span],
    tokenizer: Tokenizer,
    max_length: int,
) -> Features:
    """Features of texts with two entities; long texts are truncated around the entities, which are kept.

    :param heads, tails: character spans of the entities, end exclusive, markers included
    """
    special_tokens = tokenizer.special_tokens
    room = _room_for_text(max_length, special_tokens.prefix, special_tokens.suffix)
    rows, entities, windowed = [], [], 0
    for subtokens, head, tail in zip(tokenizer.subtokens(texts), heads, tails, strict=True):
        keep: list[range] = [range(len(subtokens.ids))]
        places = [
            [
                i
                for i, (s, e) in enumerate(zip(subtokens.starts, subtokens.ends, strict=True))
                if s < end and start < e
            ]
            for start, end in (head, tail)
        ]
        if len(subtokens.ids) > room:
            windowed += 1
            keep = around(
                sorted((place[0], place[-1] + 1) for place in places if place),
                len(subtokens.ids),
                room,
            )
        kept = [i for part in keep for i in part]
        rows.append([subtokens.ids[i] for i in kept])
        entities.append(
            [_span_of_entity(place, kept, len(special_tokens.prefix)) for place in places]
        )
    features = _single_rows(rows, special_tokens, windowed=windowed)
    return replace(features, entities=np.array(entities, dtype=np.int64).reshape(-1, 2, 2))


def _span_of_entity(subtokens: Sequence[int], kept: Sequence[int], prefix: int) -> Span:
    """The span of an entity among the kept pieces; the whole row if none of its pieces is left."""
    inside = set(subtokens)
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
    # Only if the second entity lies inside the first, which is longer than the room.
    if left.stop > right.start:
        start = min(left.start, right.start, size - room)
        return [range(start, start + room)]
    return [left, right]


def _room_for_text(max_length: int, *special: tuple[int, ...]) -> int:
    return max(1, max_length - sum(map(len, special)))


def _single_rows(
    rows: list[list[int]], special_tokens: SpecialTokens, truncated: int = 0, windowed: int = 0
) -> Features:
    return Features(
        ids=Ragged.of(special_tokens.single(row) for row in rows),
        token_type_ids=special_tokens.segments(
            special_tokens.single_types(len(row)) for row in rows
        ),
        example_index=np.arange(len(rows)),
        truncated=truncated,
        windowed=windowed,
    )
