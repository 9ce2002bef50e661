"""Checks of the input of every metric: matching lengths, valid labels.

Precision, recall and F1 from counts. An undefined ratio is 0, the default of seqeval and scikit-learn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blurb.metrics._metric import Counts, Scores


def check_pairs(gold: Sequence[object], predicted: Sequence[object], unit: str) -> None:
    """Raises ValueError unless there is one prediction for each gold `unit` (a singular noun, for the message)."""
    for side, values in (("gold", gold), ("predicted", predicted)):
        if isinstance(values, str):
            raise ValueError(f"{side} is the single string {values!r}. Pass a sequence with one item per {unit}.")
    if len(gold) != len(predicted):
        raise ValueError(
            f"gold has {len(gold)} {unit}s, predicted has {len(predicted)}: {unit} {min(len(gold), len(predicted))} "
            f"(counting from 0) has no counterpart. Pass one prediction per gold {unit}, in the same order."
        )


def check_sentences(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> NDArray[np.intp]:
    """Raises ValueError unless gold and predicted line up word by word; returns the words per sentence, (sentences,).

    A flat list of tags is rejected, as `["B", "I", "O"]` would otherwise count as three sentences of one word.
    """
    check_pairs(gold, predicted, "sentence")
    for side, sentences in (("gold", gold), ("predicted", predicted)):
        if any(issubclass(kind, str) for kind in set(map(type, sentences))):
            raise ValueError(f"{side} is a flat sequence of strings. Pass each sentence as a sequence of its own.")
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
        raise ValueError(f"labels is {labels!r}. Pass a sequence of label names, at least one and none twice.")


def label_arrays(gold: Sequence[str], predicted: Sequence[str]) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
    """Both sides as (examples,); raises ValueError unless they have the same length."""
    check_pairs(gold, predicted, "example")
    return np.array(gold, dtype=np.str_), np.array(predicted, dtype=np.str_)


def ratio(part: float, whole: float) -> float:
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


def ratios(true_positives: float, predicted: float, gold: float) -> Ratios:
    """The ratios for given numbers of correct, predicted and gold items.

    >>> ratios(true_positives=2, predicted=4, gold=2)
    Ratios(f1=0.6666666666666666, precision=0.5, recall=1.0)
    """
    # 2TP / (predicted + gold) is 2PR / (P + R) with one rounding, and is defined when only one of P and R is
    return Ratios(
        f1=ratio(2 * true_positives, predicted + gold),
        precision=ratio(true_positives, predicted),
        recall=ratio(true_positives, gold),
    )


def f1(sums: Counts) -> Scores:
    """2 tp / (predicted + gold): (..., 3) to (...), 0.0 if both are 0."""
    both = sums[..., 1] + sums[..., 2]
    return np.divide(2 * sums[..., 0], both, out=np.zeros_like(both), where=both > 0)


def wrong(counts: Counts) -> Scores:
    """(predicted - tp) + (gold - tp), over all labels: (examples, 3 * labels) to (examples,)."""
    each = counts.reshape(len(counts), -1, 3)
    return np.asarray((each[..., 1] + each[..., 2] - 2 * each[..., 0]).sum(-1))
