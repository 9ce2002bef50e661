"""Features of words for linear models: hashed words, shapes and affixes in a window around each word.

Words that are equal have equal features, so these are made once a distinct word, and a window by selecting rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction import FeatureHasher

from blurb.data.schema import Example

BITS = 18
"""Each place of the window has 2^18 columns; 20 bits gave the same scores on dev of NCBI-disease."""
OUTSIDE = "\n"
"""A word that no sentence has, for the places before the first and after the last word."""
AFFIXES = (2, 3, 4)


class WindowFeatures(BaseEstimator, TransformerMixin):  # type: ignore[misc]
    """(words, features) of all words of some sentences: each word, its neighbours, and the pairs that it is part of.

    :param window: number of words before and after
    """

    def __init__(self, window: int) -> None:
        self.window = window

    def fit(self, units: Sequence[Example], y: object = None) -> WindowFeatures:
        return self

    def transform(self, units: Sequence[Example]) -> Any:
        words = [word for unit in units for word in unit["tokens"]]
        sentence = sentence_of(units)
        types = {word: number for number, word in enumerate(dict.fromkeys([*words, OUTSIDE]))}
        numbers = np.array([types[word] for word in words], dtype=np.int64)
        own, beside = _hashed(map(of_word, types)), _hashed(map(of_neighbour, types))
        around = {
            place: _at(numbers, sentence, place, types[OUTSIDE]) for place in range(-self.window, self.window + 1)
        }
        blocks = [(beside if place else own)[found] for place, found in around.items()]
        if self.window:
            lower = [word.lower() for word in types]
            pairs = zip(around[-1], numbers, around[1], strict=True)
            blocks.append(_hashed([f"{lower[a]} {lower[b]} ", f" {lower[b]} {lower[c]}"] for a, b, c in pairs))
        return scipy.sparse.hstack(blocks).tocsr()


def of_word(word: str) -> list[str]:
    """The features of a word itself.

    >>> of_word("IL-2")[:4]
    ['word=IL-2', 'lower=il-2', 'shape=XX-d', 'short=X-d']
    """
    full, short = shape(word)
    lower = word.lower()
    affixes = [f"{kind}={part}" for n in AFFIXES for kind, part in (("prefix", lower[:n]), ("suffix", lower[-n:]))]
    return [f"word={word}", f"lower={lower}", f"shape={full}", f"short={short}", *affixes]


def of_neighbour(word: str) -> list[str]:
    """The features of a word for those beside it."""
    lower = word.lower()
    return [f"lower={lower}", f"short={shape(word)[1]}", f"suffix={lower[-3:]}"]


def shape(word: str) -> tuple[str, str]:
    """Capitals as X, small letters as x, digits as d; and the same with repetitions as one.

    >>> shape("p53-Mediated")
    ('xdd-Xxxxxxxx', 'xd-Xx')
    """
    full = re.sub(r"\d", "d", re.sub(r"[a-z]", "x", re.sub(r"[A-Z]", "X", word)))
    return full, re.sub(r"(.)\1+", r"\1", full)


def sentence_of(units: Sequence[Example]) -> npt.NDArray[np.int64]:
    """(words,) the sentence of each word."""
    return np.repeat(np.arange(len(units)), [len(unit["tokens"]) for unit in units])


def _at(
    numbers: npt.NDArray[np.int64], sentence: npt.NDArray[np.int64], place: int, outside: int
) -> npt.NDArray[np.int64]:
    """(words,) the number of the word that stands `place` words after each, `outside` beyond its sentence."""
    places = np.arange(len(numbers)) + place
    inside = (places >= 0) & (places < len(numbers))
    places = np.where(inside, places, 0)
    inside &= sentence[places] == sentence if len(numbers) else inside
    return np.where(inside, numbers[places], outside)


def _hashed(features: Any) -> Any:
    return FeatureHasher(2**BITS, input_type="string", alternate_sign=False).transform(features)
