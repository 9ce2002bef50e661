"""What the summed forms of several metrics share: F1 of sums, mistakes of a unit, labels as arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from blurb.metrics._checks import check_pairs
from blurb.metrics._metric import Counts, Scores


def f1(sums: Counts) -> Scores:
    """2 tp / (predicted + gold): (..., 3) to (...), 0.0 where there is nothing."""
    both = sums[..., 1] + sums[..., 2]
    return np.divide(2 * sums[..., 0], both, out=np.zeros_like(both), where=both > 0)


def wrong(counts: Counts) -> Scores:
    """(predicted - tp) + (gold - tp), over all labels: (units, 3 * labels) to (units,)."""
    each = counts.reshape(len(counts), -1, 3)
    return np.asarray((each[..., 1] + each[..., 2] - 2 * each[..., 0]).sum(-1))


def label_arrays(gold: Sequence[str], predicted: Sequence[str]) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
    check_pairs(gold, predicted, "unit")
    return np.array(gold, dtype=np.str_), np.array(predicted, dtype=np.str_)
