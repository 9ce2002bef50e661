"""The declaration of a metric, used for scoring, tables, bootstrap, `evaluate` and the Hub, with shared checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.float64]
"""(examples, summands)."""
Scores = NDArray[np.float64]
Sentences = Sequence[Sequence[str]]
"""The tags of each word, (sentences, words of the sentence)."""


LOSSES = frozenset({"log_loss", "squared_error"})
"""Figures that a trial has on dev beside the values of its metric (`Formulation.losses`)."""
ROUNDING = 1e-6
"""Tolerance of a sum of floats beyond the range of a metric."""


@dataclass(frozen=True)
class Metric:
    """A metric as a function of gold and predictions, and as a function of sums over examples; with its names."""

    function: Callable[..., dict[str, float]]
    """`function(gold, predicted, **options)`: its values, the main one first; never NaN."""
    main: str
    """Name of the main value, which is the first."""
    hub: str
    """Name of the main value on the Hugging Face Hub."""
    counts: Callable[..., NDArray[Any]]
    """`counts(gold, predicted, **options)`: the summands of each example, (examples, summands)."""
    score: Callable[[Counts], Scores]
    """The main value from sums of summands: (..., summands) to (...)."""
    mistakes: Callable[[Counts], Scores]
    """Mistakes in each example, (examples, summands) to (examples,), 0 if it is correct."""
    aligned: Callable[[Counts, Counts], Counts] = lambda first, second: second
    """The counts of a second run on the same examples, made exchangeable with those of the first."""
    dtype: str = "string"
    """Type of an answer, as a `datasets.Value`."""
    sequence: bool = False
    """Whether an answer is a sequence of them: a tag per word, the labels of a document."""
    tallies: frozenset[str] = frozenset()
    """Values that are counts."""
    low: float = -1.0
    """The least value that there can be; a figure below it is damage. (The greatest is 1 of every metric.)"""

    correlation: bool = False
    """Whether it is a correlation, whose error is alike everywhere on Fisher's scale; else it is a share of 1."""

    @property
    def unscaled(self) -> frozenset[str]:
        """Figures that tables do not multiply by 100."""
        return self.tallies | LOSSES

    def admits(self, name: str, value: float) -> bool:
        """Whether a figure can be this number: a count, a loss, or a fraction in its range."""
        if name in self.unscaled:
            return 0 <= value < float("inf")
        return self.low - ROUNDING <= value <= 1 + ROUNDING

    def __call__(self, gold: Any, predicted: Any, **options: Any) -> dict[str, float]:
        """The values of `function`."""
        return self.function(gold, predicted, **options)


def check_pairs(gold: Sequence[object], predicted: Sequence[object], unit: str) -> None:
    """Raises ValueError unless there is one prediction for each gold `unit` (a singular noun, for the message)."""
    for side, values in (("gold", gold), ("predicted", predicted)):
        if isinstance(values, str):
            raise ValueError(
                f"{side} is the single string {values!r}. Pass a sequence with one item per {unit}."
            )
    if len(gold) != len(predicted):
        raise ValueError(
            f"gold has {len(gold)} {unit}s, predicted has {len(predicted)}: {unit} {min(len(gold), len(predicted))} "
            f"(counting from 0) has no counterpart. Pass one prediction per gold {unit}, in the same order."
        )


def check_sentences(gold: Sentences, predicted: Sentences) -> NDArray[np.intp]:
    """Raises ValueError unless gold and predicted line up word by word; returns the words per sentence, (sentences,).

    A flat list of tags is rejected, as `["B", "I", "O"]` would otherwise count as three sentences of one word.
    """
    check_pairs(gold, predicted, "sentence")
    for side, sentences in (("gold", gold), ("predicted", predicted)):
        if any(issubclass(kind, str) for kind in set(map(type, sentences))):
            raise ValueError(
                f"{side} is a flat sequence of strings. Pass each sentence as a sequence of its own."
            )
    gold_lengths = np.fromiter(map(len, gold), dtype=np.intp, count=len(gold))
    predicted_lengths = np.fromiter(map(len, predicted), dtype=np.intp, count=len(predicted))
    unequal = np.flatnonzero(gold_lengths != predicted_lengths)
    if unequal.size:
        index = unequal[0]
        raise ValueError(
            f"Sentence {index} (counting from 0) has {gold_lengths[index]} gold tags and {predicted_lengths[index]} "
            "predicted tags. Pass one tag per word on both sides; use 'O' for words that the model did not see."
        )
    return gold_lengths


def check_labels(labels: Sequence[str]) -> None:
    """Raises ValueError unless `labels` are distinct names, at least one."""
    if isinstance(labels, str) or len(labels) == 0 or len(set(labels)) != len(labels):
        raise ValueError(
            f"labels is {labels!r}. Pass a sequence of label names, at least one and none twice."
        )


def label_arrays(
    gold: Sequence[str], predicted: Sequence[str]
) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
    """Both sides as (examples,); raises ValueError unless they have the same length."""
    check_pairs(gold, predicted, "example")
    return np.array(gold, dtype=np.str_), np.array(predicted, dtype=np.str_)


def safe_ratio(part: float, whole: float) -> float:
    """`part / whole`, and 0.0 where `whole` is 0.

    >>> ratio(1, 4), ratio(0, 0)
    (0.25, 0.0)
    """
    return float(part / whole) if whole else 0.0


class Ratios(NamedTuple):
    """Fractions in [0, 1], in the order of the metrics' dictionaries: the main value first."""

    f1: float
    precision: float
    recall: float


def count_ratios(true_positives: float, predicted: float, gold: float) -> Ratios:
    """The ratios for given numbers of correct, predicted and gold items.

    >>> ratios(true_positives=2, predicted=4, gold=2)
    Ratios(f1=0.6666666666666666, precision=0.5, recall=1.0)
    """
    # 2TP / (predicted + gold) is 2PR / (P + R) with one rounding, and is defined when only one of P and R is
    return Ratios(
        f1=safe_ratio(2 * true_positives, predicted + gold),
        precision=safe_ratio(true_positives, predicted),
        recall=safe_ratio(true_positives, gold),
    )


def f1(sums: Counts) -> Scores:
    """2 tp / (predicted + gold): (..., 3) to (...), 0.0 if both are 0."""
    both = sums[..., 1] + sums[..., 2]
    return np.divide(2 * sums[..., 0], both, out=np.zeros_like(both), where=both > 0)


def mean_f1(sums: Counts) -> Scores:
    """The mean of the F1 of the labels: (..., 3 * labels) to (...)."""
    return np.asarray(f1(sums.reshape(*sums.shape[:-1], -1, 3)).mean(-1))


def count_wrong(counts: Counts) -> Scores:
    """(predicted - tp) + (gold - tp), over all labels: (examples, 3 * labels) to (examples,)."""
    each = counts.reshape(len(counts), -1, 3)
    return np.asarray((each[..., 1] + each[..., 2] - 2 * each[..., 0]).sum(-1))
