"""The words of a text, and weights of sub-tokens joined to weights of words."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from blurb.messages.errors import SettingsError

if TYPE_CHECKING:
    from blurb.inputs.tokenizer import Subtokens

Floats = npt.NDArray[np.float32]
Span = tuple[int, int]
WORD = re.compile(r"\w+(?:[-.,'/]\w+)*|[^\w\s]")
"""Letters and digits, also around a single sign as in IL-2, 0.5 or patient's; any other sign is a word by itself."""


def spans(text: str) -> list[Span]:
    """Start and end (exclusive, in characters) of each word.

    :raises SettingsError: for a text without words

    >>> [text[start:end] for text in ["IL-2 rose (by 0.5)."] for start, end in spans(text)]
    ['IL-2', 'rose', '(', 'by', '0.5', ')', '.']
    """
    words = [match.span() for match in WORD.finditer(text)]
    if not words:
        raise SettingsError("the text has no words", fix="give a sentence.")
    return words


def words_of_pieces(words: Sequence[Span], pieces: Subtokens) -> list[int]:
    """The index of the word in which each sub-token begins; blanks alone belong to the word behind them."""
    starts = [start for start, _ in words]
    return [max(0, bisect_right(starts, start) - 1) for start in pieces.starts]


def boundaries(words: Sequence[Span], pieces: Subtokens) -> set[int]:
    """Where a word begins that the tokenizer keeps apart from the one before: indices of words, 0 always.

    A word belongs to the one before if a sub-token reaches over both, or if no sub-token begins in it; words at the
    beginning of which the tokenizer drops all, such as a byte order mark, belong to the one behind them.

    :raises SettingsError: if the tokenizer drops all words
    """
    owners = words_of_pieces(words, pieces)
    if not owners:
        raise SettingsError("the tokenizer drops the whole text", fix="give a sentence.")
    kept = set(owners)
    for owner, end in zip(owners, pieces.ends, strict=True):
        for later in range(owner + 1, len(words)):
            if words[later][0] >= end:
                break
            kept.discard(later)
    return kept - {min(kept)} | {0}


def united(words: Sequence[Span], kept: set[int]) -> list[Span]:
    """The words after those that are not `kept` were added to the ones before them."""
    firsts = [*sorted(kept), len(words)]
    return [(words[first][0], words[after - 1][1]) for first, after in pairwise(firsts)]


def join(weights: Floats, columns: Sequence[int], size: int) -> Floats:
    """Weights of sub-tokens as weights of words: the sum over keys, the mean over queries.

    What a word attends to is the mean of what its sub-tokens attend to, and what it is given is the sum of what they
    are given; so rows still sum to 1.

    :param weights: (layers, heads, pieces, pieces)
    :param columns: the word of each sub-token
    :param size: number of words
    :returns: (layers, heads, words, words)

    >>> halves = np.full((1, 1, 2, 2), 0.5, dtype=np.float32)
    >>> join(halves, [0, 0], 1).tolist()
    [[[[1.0]]]]
    """
    members = _members(columns, size)  # (pieces, words)
    means = (members / members.sum(0)).T  # (words, pieces)
    joined: Floats = means @ weights @ members  # (layers, heads, words, words)
    return joined


def join_keys(weights: Floats, columns: Sequence[int], size: int) -> Floats:
    """`join` for rows that are no sub-tokens: (..., pieces) to (..., words)."""
    joined: Floats = weights @ _members(columns, size)
    return joined


def _members(columns: Sequence[int], size: int) -> Floats:
    """1 where a sub-token is of a word, (pieces, words)."""
    members = np.zeros((len(columns), size), dtype=np.float32)
    members[np.arange(len(columns)), columns] = 1
    return members


def find_entity(text: str, words: Sequence[Span], entity: str) -> Span:
    """The first and the last word (exclusive) that an entity of the text touches, where it is first mentioned.

    :raises SettingsError: if it is not in the text
    """
    sought = entity.strip()
    # As written, else in any case. As whole words first: "ion" is in "lesion", too.
    patterns = [rf"(?<!\w){re.escape(sought)}(?!\w)", re.escape(sought)]
    matches = (re.search(pattern, text, flags) for pattern in patterns for flags in (0, re.IGNORECASE))
    match = next((match for match in matches if match), None) if sought else None
    if match is None:
        raise SettingsError(f"'{entity}' is not in the text", fix="write it as the text does.")
    touched = [index for index, (start, end) in enumerate(words) if start < match.end() and end > match.start()]
    return touched[0], touched[-1] + 1
