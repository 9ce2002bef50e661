"""Features of words for linear models: hashed words, shapes and affixes in a window around each word.

Words that are equal have equal features, so these are made once a distinct word, and a window by selecting rows.

Features of texts for linear models: TF-IDF of words and pairs of words, as scikit-learn pipelines.

An example is what a formulation calls a unit; a pipeline turns a list of them into a matrix (units, features).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import StandardScaler

from blurb.data.schema import Example, input_texts
from blurb.formulations._base import Formulation
from blurb.inputs import relations
from blurb.inputs.features import Ints

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
        own, beside = (
            _hash_features(map(word_features, types)),
            _hash_features(map(neighbour_features, types)),
        )
        around = {
            place: _numbers_at(numbers, sentence, place, types[OUTSIDE])
            for place in range(-self.window, self.window + 1)
        }
        blocks = [(beside if place else own)[found] for place, found in around.items()]
        if self.window:
            lower = [word.lower() for word in types]
            pairs = zip(around[-1], numbers, around[1], strict=True)
            blocks.append(
                _hash_features(
                    [f"{lower[a]} {lower[b]} ", f" {lower[b]} {lower[c]}"] for a, b, c in pairs
                )
            )
        return scipy.sparse.hstack(blocks).tocsr()


def word_features(word: str) -> list[str]:
    """The features of a word itself.

    >>> word_features("IL-2")[:4]
    ['word=IL-2', 'lower=il-2', 'shape=XX-d', 'short=X-d']
    """
    full, short = shape(word)
    lower = word.lower()
    affixes = [
        f"{kind}={part}"
        for n in AFFIXES
        for kind, part in (("prefix", lower[:n]), ("suffix", lower[-n:]))
    ]
    return [f"word={word}", f"lower={lower}", f"shape={full}", f"short={short}", *affixes]


def neighbour_features(word: str) -> list[str]:
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


def sentence_of(units: Sequence[Example]) -> Ints:
    """(words,) the sentence of each word."""
    return np.repeat(np.arange(len(units)), [len(unit["tokens"]) for unit in units])


def _numbers_at(numbers: Ints, sentence: Ints, place: int, outside: int) -> Ints:
    """(words,) the number of the word that stands `place` words after each, `outside` beyond its sentence."""
    places = np.arange(len(numbers)) + place
    inside = (places >= 0) & (places < len(numbers))
    places = np.where(inside, places, 0)
    inside &= sentence[places] == sentence if len(numbers) else inside
    return np.where(inside, numbers[places], outside)


def _hash_features(features: Any) -> Any:
    return FeatureHasher(2**BITS, input_type="string", alternate_sign=False).transform(features)


WORD = re.compile(r"@[^\s@]+\$|\w+|[^\w\s]")
"""A dummy of an entity (`@GENE$`), letters and digits, or another sign."""
CUES = 0.3
"""Weight of each cue about the entities of a relation, beside rows of TF-IDF of length 1; found on dev of ChemProt."""
LONGEST_GAP = 10
NEAR = 3
"""Number of words before the first and after the second entity that are cues."""


def feature_pipeline(formulation: Formulation, units: int) -> Any:
    """The features of a formulation that predicts no tags, still to be fitted.

    :param units: number of training examples
    """
    settings = formulation.settings
    longest, least = settings.ngrams, min(settings.min_count, units)
    if formulation.has_pair:
        return Pipeline([("comparison", TextComparison(longest)), ("scale", StandardScaler())])
    text = _tfidf_and_constant(lambda unit: _text_of_unit(unit, formulation), longest, least)
    if not formulation.has_entities:
        return FeatureUnion([("text", text)])
    between = _tfidf_and_constant(
        lambda unit: _text_around_entities(unit, formulation)[1], longest, least
    )
    of_pair = CountVectorizer(
        analyzer=lambda unit: cues(unit, formulation), binary=True, dtype=float
    )
    return FeatureUnion(
        [("text", text), ("between", between), ("cues", of_pair)],
        transformer_weights={"cues": CUES},
    )


def words(text: str) -> list[str]:
    """The words of a text in lower case.

    >>> words("@GENE$-mediated Apoptosis.")
    ['@gene$', '-', 'mediated', 'apoptosis', '.']
    """
    return WORD.findall(text.lower())


def ngrams(text: str, longest: int) -> list[str]:
    """All sequences of up to `longest` words.

    >>> ngrams("A b c", 2)
    ['a', 'b', 'c', 'a b', 'b c']
    """
    found = words(text)
    return [
        " ".join(found[at : at + n])
        for n in range(1, longest + 1)
        for at in range(len(found) - n + 1)
    ]


def cues(unit: Example, formulation: Formulation) -> list[str]:
    """Features of a relation beside its words: order of the entities, their types, distance and neighbours."""
    before, between, after = _text_around_entities(unit, formulation)
    _, head, tail = relations.mark(unit, formulation.settings.relation_input)
    order = "same" if head == tail else "head first" if head < tail else "tail first"
    types = f"{unit['head']['type']} {unit['tail']['type']}"
    gap = min(LONGEST_GAP, len(words(between)))
    beside = [f"before {word}" for word in words(before)[-NEAR:]] + [
        f"after {word}" for word in words(after)[:NEAR]
    ]
    return [f"order {order}", f"types {types}", f"gap {gap}", *beside]


class TextComparison(BaseEstimator, TransformerMixin):  # type: ignore[misc]
    """Features of a pair of texts: the cosine of their TF-IDF, shared words and pairs of words, and lengths.

    :param longest: longest sequences of words of the cosine
    """

    def __init__(self, longest: int) -> None:
        self.longest = longest

    def fit(self, units: Sequence[Example], y: object = None) -> TextComparison:
        self.tfidf_ = _tfidf_and_constant(lambda text: text, self.longest, 1).fit(
            [text for unit in units for text in input_texts(unit)]
        )
        return self

    def transform(self, units: Sequence[Example]) -> npt.NDArray[np.float64]:
        first, second = (
            self.tfidf_.transform([input_texts(unit)[part] for unit in units]) for part in (0, 1)
        )
        cosine = np.asarray(first.multiply(second).sum(axis=1)).reshape(-1, 1)
        return np.hstack([cosine, [_overlap_of_texts(*input_texts(unit)) for unit in units]])


def _overlap_of_texts(first: str, second: str) -> list[float]:
    """Shared of all words and pairs of words, shared words of the shorter text, and how equal the lengths are."""
    a, b = set(words(first)), set(words(second))
    pairs, others = set(ngrams(first, 2)) - a, set(ngrams(second, 2)) - b
    lengths = sorted((len(words(first)), len(words(second))))
    return [
        len(a & b) / max(1, len(a | b)),
        len(pairs & others) / max(1, len(pairs | others)),
        len(a & b) / max(1, min(len(a), len(b))),
        lengths[0] / max(1, lengths[1]),
    ]


def _tfidf_and_constant(
    text: Callable[[Any], str | Iterable[str]], longest: int, least: int
) -> TfidfVectorizer:
    """TF-IDF with a feature that every example has, as no example must be without any."""

    def analyzer(unit: Any) -> list[str]:
        found = text(unit)
        parts = [found] if isinstance(found, str) else found
        return ["", *(gram for part in parts for gram in ngrams(part, longest))]

    return TfidfVectorizer(analyzer=analyzer, min_df=least, sublinear_tf=True)


def _text_of_unit(unit: Example, formulation: Formulation) -> Iterable[str]:
    """The text of a unit as the trial's settings show it; of a question and its context both."""
    return (
        relations.mark(unit, formulation.settings.relation_input)[:1]
        if formulation.has_entities
        else input_texts(unit)
    )


def _text_around_entities(unit: Example, formulation: Formulation) -> tuple[str, str, str]:
    """The text before the first entity, between the two, and after the second."""
    text, *spans = relations.mark(unit, formulation.settings.relation_input)
    first, second = sorted(spans)
    return text[: first[0]], text[first[1] : second[0]], text[max(first[1], second[1]) :]
