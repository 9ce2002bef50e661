"""F1 of one class against all others. (GAD.)"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blurb.metrics._metric import (
    Counts,
    Metric,
    check_pairs,
    count_ratios,
    count_wrong,
    f1,
    label_arrays,
)


def binary_f1(gold: Sequence[str], predicted: Sequence[str], *, positive: str) -> dict[str, float]:
    """F1 of one class against all others.

    Args:
        gold, predicted: one label per example, (examples,).
        positive: the positive label.

    Returns:
        `f1`, `precision`, `recall`; 0.0 if the denominator is 0.

    Raises:
        ValueError: if the lengths differ.

    >>> binary_f1(["1", "0", "1", "1"], ["1", "1", "0", "1"], positive="1")["f1"]
    0.6666666666666666

    Source: Gu et al. print "Micro F1" for GAD; the scripts of LinkBERT, KeBioLM and BioBERT compute the F1 of label 1
    (docs/benchmark.md, "GAD"). scikit-learn's `average="micro"` over both classes would be the accuracy.
    """
    check_pairs(gold, predicted, "label")
    true_positives = sum(g == p == positive for g, p in zip(gold, predicted, strict=True))
    n_predicted = sum(p == positive for p in predicted)
    n_gold = sum(g == positive for g in gold)
    return count_ratios(true_positives, n_predicted, n_gold)._asdict()


def _counts(gold: Sequence[str], predicted: Sequence[str], positive: str) -> Counts:
    right, answer = label_arrays(gold, predicted)
    return np.stack(
        [(right == positive) & (answer == positive), answer == positive, right == positive], 1
    )


METRIC = Metric(
    binary_f1, main="f1", hub="f1", counts=_counts, score=f1, mistakes=count_wrong, low=0.0
)
