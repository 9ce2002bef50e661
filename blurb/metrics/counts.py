"""Metrics as functions of sums over examples, to score many resamples of a test set quickly.

Every metric of BLURB is a function of sums: of true positives, predictions and gold for F1, of correct answers for
accuracy, of moments for Pearson's r. `unit_counts` gives the summands of each example, `score_of` the metric of any
sums of them, in one array operation for many resamples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from blurb.metrics import get
from blurb.metrics._metric import Counts, Scores

__all__ = ["Counts", "Scores", "score_of", "unit_counts"]


def unit_counts(metric: str, gold: Sequence[Any], predicted: Sequence[Any], options: Mapping[str, Any]) -> Counts:
    """The summands of each example, (examples, summands).

    :param metric: a metric of `blurb.metrics.get`, for its main value
    :param options: its keyword arguments

    >>> unit_counts("binary_f1", ["1", "0", "1"], ["1", "1", "0"], {"positive": "1"}).tolist()
    [[1.0, 1.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    return np.asarray(get(metric).counts(gold, predicted, **options), dtype=np.float64)


def score_of(metric: str, sums: Counts) -> Scores:
    """The metric from sums of summands: (..., summands) to (...), as fractions; undefined values are 0.0.

    >>> counts = unit_counts("binary_f1", ["1", "0", "1"], ["1", "1", "0"], {"positive": "1"})
    >>> float(score_of("binary_f1", counts.sum(0)))
    0.5
    """
    return get(metric).score(sums)
