"""Precision, recall and F1 from counts. An undefined ratio is 0, the default of seqeval and scikit-learn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from blurb.metrics._metric import Counts, Scores


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
