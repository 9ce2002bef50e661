"""Sentences of words as encoder inputs: the sub-tokens of each word, and windows for long sentences."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from blurb.inputs.features import Features, Ragged
from blurb.inputs.tokenizer import Subtokens, Tokenizer

POOLINGS = ("first", "mean", "last")
"""Which sub-tokens represent a word: the first (as in Gu et al.), the mean of all, or the last."""


def word_pieces(words: Sequence[str], subtokens: Subtokens) -> list[tuple[int, int]]:
    """Start and end (exclusive) of each word's pieces, or (-1, -1) if the word has no pieces.

    The pieces are those of the words joined by single blanks. The first piece of a word is the first that begins inside
    it, or one that begins earlier and extends into it.
    """
    starts, place = [], 0
    for word in words:
        starts.append(place)
        place += len(word) + 1
    pieces = [(-1, -1)] * len(words)
    for index, (start, end) in enumerate(zip(subtokens.starts, subtokens.ends, strict=True)):
        if start == end:  # blanks alone, or nothing at all
            continue
        at = bisect_right(starts, start) - 1
        pieces[at] = (index if pieces[at][0] < 0 else pieces[at][0], index + 1)
        for covered in range(at + 1, bisect_right(starts, end - 1)):
            pieces[covered] = (index, index + 1)
    return pieces


def windows(size: int, room: int) -> list[tuple[int, int, int, int]]:
    """Cuts `size` pieces into windows of at most `room` that overlap by half.

    Returns (start, end, own start, own end) for each: a window predicts the words whose piece lies in its own part. The
    own parts meet in the middle of each overlap, so every piece is predicted where it has the most context.
    """
    if size <= room:
        return [(0, size, 0, size)]
    begins = [*range(0, size - room, max(1, room // 2)), size - room]
    cuts = [0, *((later + begin + room) // 2 for begin, later in pairwise(begins)), size]
    return [(begin, begin + room, cuts[i], cuts[i + 1]) for i, begin in enumerate(begins)]


BORDERS = ("blanks", "prefix", "none")


def _cut_sentences(
    sentences: Sequence[Sequence[str]], tokenizer: Tokenizer, borders: str
) -> list[Subtokens]:
    """The sub-tokens of sentences, with their places in the words joined by single blanks."""
    if borders == "none":
        words = iter(tokenizer.subtokens([word for sentence in sentences for word in sentence]))
        return [
            _join_subtokens([next(words) for _ in sentence], sentence) for sentence in sentences
        ]
    if borders == "prefix":
        return [
            Subtokens(
                one.ids, [max(0, at - 1) for at in one.starts], [max(0, at - 1) for at in one.ends]
            )
            for one in tokenizer.subtokens([" " + " ".join(words) for words in sentences])
        ]
    return tokenizer.subtokens([" ".join(words) for words in sentences])


def _join_subtokens(parts: Sequence[Subtokens], words: Sequence[str]) -> Subtokens:
    """The sub-tokens of words that were cut one by one."""
    whole, place = Subtokens([], [], []), 0
    for part, word in zip(parts, words, strict=True):
        whole.ids.extend(part.ids)
        whole.starts.extend(place + at for at in part.starts)
        whole.ends.extend(place + at for at in part.ends)
        place += len(word) + 1
    return whole


def encode_words(
    sentences: Sequence[Sequence[str]],
    tokenizer: Tokenizer,
    max_length: int,
    borders: str = "blanks",
) -> Features:
    """Features of sentences given as words.

    Every word that has a sub-token is in exactly one row; words that the tokenizer drops are in none and are predicted
    as `O`, so that all gold labels are scored.

    :param borders: one of `BORDERS`: the text has a blank before each word but the first, before each, or before none
    """
    special_tokens = tokenizer.special_tokens
    room = max(1, max_length - len(special_tokens.prefix) - len(special_tokens.suffix))
    ids, types, unit, words, positions, ends = [], [], [], [], [], []
    windowed = 0
    for index, (sentence, subtokens) in enumerate(
        zip(sentences, _cut_sentences(sentences, tokenizer, borders), strict=True)
    ):
        first, after = np.array(word_pieces(sentence, subtokens), dtype=np.int64).reshape(-1, 2).T
        cuts = windows(len(subtokens.ids), room)
        windowed += len(cuts) > 1
        for start, end, own_start, own_end in cuts:
            own = np.flatnonzero((first >= own_start) & (first < own_end))
            ids.append(special_tokens.single(subtokens.ids[start:end]))
            types.append(special_tokens.single_types(end - start))
            unit.append(index)
            words.append(own)
            positions.append(first[own] - start + len(special_tokens.prefix))
            ends.append(np.minimum(after[own], end) - start + len(special_tokens.prefix))
    return Features(
        ids=Ragged.of(ids),
        token_type_ids=special_tokens.segments(types),
        example_index=np.array(unit, dtype=np.int64),
        word_ids=Ragged.of(words),
        word_starts=Ragged.of(positions),
        word_ends=Ragged.of(ends),
        windowed=windowed,
    )
