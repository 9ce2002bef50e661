"""Metrics as sums over test units: what is needed to score any resample of a test set without scoring it anew.

Every metric of BLURB is a function of sums: of true positives, predictions and gold for F1, of right answers for
accuracy, of moments for Pearson's r. `unit_counts` gives the summands of each unit, `score_of` the metric of any sums
of them, in one array operation for many resamples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from blurb.metrics import get
from blurb.metrics._metric import Counts, Scores

__all__ = ["Counts", "Scores", "score_of", "unit_counts"]


def unit_counts(metric: str, gold: Sequence[Any], predicted: Sequence[Any], options: Mapping[str, Any]) -> Counts:
    """The summands of each unit, (units, summands).

    :param metric: a name that `blurb.metrics.get` knows; the figure is its main one
    :param options: its keyword arguments

    >>> unit_counts("binary_f1", ["1", "0", "1"], ["1", "1", "0"], {"positive": "1"}).tolist()
    [[1.0, 1.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    return np.asarray(get(metric).counts(gold, predicted, **options), dtype=np.float64)


def score_of(metric: str, sums: Counts) -> Scores:
    """The metric of sums of summands: (..., summands) to (...), fractions; what is undefined is 0.0.

    >>> counts = unit_counts("binary_f1", ["1", "0", "1"], ["1", "1", "0"], {"positive": "1"})
    >>> float(score_of("binary_f1", counts.sum(0)))
    0.5
    """
    return get(metric).score(sums)
