"""Accuracy: the fraction of correct labels. (PubMedQA, BioASQ.)"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blurb.metrics._metric import Counts, Metric, Scores, check_pairs, label_arrays, safe_ratio


def accuracy(gold: Sequence[str], predicted: Sequence[str]) -> dict[str, float]:
    """The fraction of examples with the correct label.

    Args:
        gold, predicted: one label per example, (examples,).

    Returns:
        `accuracy`; 0.0 without examples.

    Raises:
        ValueError: if the lengths differ.

    >>> accuracy(["yes", "no", "maybe", "yes"], ["yes", "no", "no", "no"])
    {'accuracy': 0.5}

    Source: Gu et al. section 2.3 (PubMedQA, BioASQ); docs/benchmark.md, "PubMedQA" and docs/benchmark.md, "BioASQ".
    """
    check_pairs(gold, predicted, "label")
    return {
        "accuracy": safe_ratio(sum(g == p for g, p in zip(gold, predicted, strict=True)), len(gold))
    }


def _counts(gold: Sequence[str], predicted: Sequence[str]) -> Counts:
    right, answer = label_arrays(gold, predicted)
    return np.stack([right == answer, np.ones(len(right))], 1)


def _share(sums: Counts) -> Scores:
    return np.divide(
        sums[..., 0], sums[..., 1], out=np.zeros_like(sums[..., 0]), where=sums[..., 1] > 0
    )


METRIC = Metric(
    accuracy,
    main="accuracy",
    hub="accuracy",
    counts=_counts,
    score=_share,
    mistakes=lambda counts: counts[:, 1] - counts[:, 0],
    low=0.0,
)
