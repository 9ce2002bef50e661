"""Metrics as sums over test units: what is needed to score any resample of a test set without scoring it anew.

Every metric of BLURB is a function of sums: of true positives, predictions and gold for F1, of right answers for
accuracy, of moments for Pearson's r. `unit_counts` gives the summands of each unit, `score_of` the metric of any sums
of them, in one array operation for many resamples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blurb.errors import UnknownName
from blurb.metrics._checks import check_pairs, check_sentences
from blurb.metrics.correlation import is_constant
from blurb.metrics.entity import entity_counts
from blurb.metrics.multilabel import indicators

Counts = NDArray[np.float64]
"""(units, summands)."""
Scores = NDArray[np.float64]


class Summed(NamedTuple):
    """A metric in two steps, and what is wrong with a unit.

    `aligned` gives the counts of a second run as summands that may be mixed with those of a first one.
    """

    counts: Callable[..., NDArray[Any]]
    score: Callable[[NDArray[np.float64]], Scores]
    mistakes: Callable[[Counts], Scores]
    aligned: Callable[[Counts, Counts], Counts] = lambda first, second: second


def unit_counts(metric: str, gold: Sequence[Any], predicted: Sequence[Any], options: Mapping[str, Any]) -> Counts:
    """The summands of each unit, (units, summands).

    :param metric: a name in `blurb.metrics.METRICS`; the figure is the first that it returns
    :param options: its keyword arguments

    >>> unit_counts("binary_f1", ["1", "0", "1"], ["1", "1", "0"], {"positive": "1"}).tolist()
    [[1.0, 1.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    return np.asarray(summed(metric).counts(gold, predicted, **options), dtype=np.float64)


def score_of(metric: str, sums: NDArray[np.float64]) -> Scores:
    """The metric of sums of summands: (..., summands) to (...), fractions; what is undefined is 0.0.

    >>> counts = unit_counts("binary_f1", ["1", "0", "1"], ["1", "1", "0"], {"positive": "1"})
    >>> float(score_of("binary_f1", counts.sum(0)))
    0.5
    """
    return summed(metric).score(sums)


def mistakes(metric: str, counts: Counts) -> Scores:
    """How much is wrong in each unit, (units, summands) to (units,), 0 where all is right.

    What was missed and what was too much, for F1; 1 for a wrong answer; the distance of scores, for Pearson's r.
    """
    return summed(metric).mistakes(counts)


def aligned(metric: str, first: Counts, second: Counts) -> Counts:
    """The counts of a second run on the same units, so that a unit's may take the place of the first run's."""
    return summed(metric).aligned(first, second)


def summed(metric: str) -> Summed:
    """A metric of `blurb.metrics.METRICS` in two steps; UnknownName if there is none."""
    if metric not in SUMMED:
        raise UnknownName("metric with counts", metric, SUMMED)
    return SUMMED[metric]


def _f1(sums: NDArray[np.float64]) -> Scores:
    """2 tp / (predicted + gold)."""
    both = sums[..., 1] + sums[..., 2]
    return np.divide(2 * sums[..., 0], both, out=np.zeros_like(both), where=both > 0)


def _wrong(counts: Counts) -> Scores:
    """(predicted - tp) + (gold - tp), over all labels."""
    each = counts.reshape(len(counts), -1, 3)
    return np.asarray((each[..., 1] + each[..., 2] - 2 * each[..., 0]).sum(-1))


def _words(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], labels: Sequence[str]) -> Counts:
    """Three numbers a label: (sentences, 3 * labels)."""
    check_sentences(gold, predicted)
    found = np.zeros((len(gold), len(labels), 3))
    column = {label: place for place, label in enumerate(labels)}
    for row, (right, answer) in enumerate(zip(gold, predicted, strict=True)):
        for one, other in zip(right, answer, strict=True):
            if one == other == "O":
                continue
            wanted, given = column.get(one[2:]), column.get(other[2:])
            if given is not None:
                found[row, given, 1] += 1
            if wanted is not None:
                found[row, wanted, 2] += 1
                found[row, wanted, 0] += wanted == given
    return found.reshape(len(gold), -1)


def _macro_f1(sums: NDArray[np.float64]) -> Scores:
    return np.asarray(_f1(sums.reshape(*sums.shape[:-1], -1, 3)).mean(-1))


def _without(gold: Sequence[str], predicted: Sequence[str], negative: str) -> Counts:
    right, answer = _names(gold, predicted)
    return np.stack([(right == answer) & (right != negative), answer != negative, right != negative], 1)


def _binary(gold: Sequence[str], predicted: Sequence[str], positive: str) -> Counts:
    right, answer = _names(gold, predicted)
    return np.stack([(right == positive) & (answer == positive), answer == positive, right == positive], 1)


def _accuracy(gold: Sequence[str], predicted: Sequence[str]) -> Counts:
    right, answer = _names(gold, predicted)
    return np.stack([right == answer, np.ones(len(right))], 1)


def _names(gold: Sequence[str], predicted: Sequence[str]) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
    check_pairs(gold, predicted, "unit")
    return np.array(gold, dtype=np.str_), np.array(predicted, dtype=np.str_)


def _share(sums: NDArray[np.float64]) -> Scores:
    return np.divide(sums[..., 0], sums[..., 1], out=np.zeros_like(sums[..., 0]), where=sums[..., 1] > 0)


def _documents(gold: Sequence[Any], predicted: Sequence[Any], labels: Sequence[str]) -> Counts:
    check_pairs(gold, predicted, "document")
    right, answer = indicators(gold, labels, "gold"), indicators(predicted, labels, "predicted")
    return np.stack([(right & answer).sum(1), answer.sum(1), right.sum(1)], 1)


def _moments(gold: Sequence[float], predicted: Sequence[float], low: float = 0.0, high: float = 4.0) -> Counts:
    """1, x, y, xx, yy, xy around the means of gold and predictions, where sums lose least; and how far those are apart.

    What the metric takes for constant is constant here: its deviations are 0, not what rounding left.
    """
    check_pairs(gold, predicted, "pair")
    x, middle = _centred(np.asarray(gold, dtype=np.float64))
    y, centre = _centred(np.clip(np.asarray(predicted, dtype=np.float64), low, high))
    return np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y, np.full(len(x), centre - middle)], 1)


def _centred(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    centre = float(values.mean())
    return (np.zeros_like(values) if is_constant(values) else values - centre), centre


def _distance(counts: Counts) -> Scores:
    """Of prediction and gold, each around its own mean."""
    return np.abs(counts[:, 1] - counts[:, 2] - counts[:, 6])


def _around_one_mean(first: Counts, second: Counts) -> Counts:
    """The second run's moments around the mean of the first one's predictions."""
    n, x, y, xx, yy, xy, apart = second.T
    move = (apart - first[:, 6]) / np.maximum(n, 1)
    return np.stack([n, x, y + move * n, xx, yy + 2 * move * y + move**2 * n, xy + move * x, first[:, 6]], 1)


def _correlation(sums: NDArray[np.float64]) -> Scores:
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)[:6]
    covariance = n * xy - x * y
    spreads = [n * square - mean * mean for square, mean in ((xx, x), (yy, y))]
    # A resample of one unit over and over leaves rounding errors of the squares behind.
    fine = (spreads[0] > 1e-12 * n * xx) & (spreads[1] > 1e-12 * n * yy)
    root = np.sqrt(np.where(fine, spreads[0] * spreads[1], 1))
    found: Scores = np.divide(covariance, root, out=np.zeros_like(x), where=fine)
    return found


SUMMED: dict[str, Summed] = {
    "entity_f1": Summed(entity_counts, _f1, _wrong),
    "token_macro_f1": Summed(_words, _macro_f1, _wrong),
    "micro_f1_without": Summed(_without, _f1, _wrong),
    "binary_f1": Summed(_binary, _f1, _wrong),
    "pearson": Summed(_moments, _correlation, _distance, _around_one_mean),
    "multilabel_f1": Summed(_documents, _f1, _wrong),
    "accuracy": Summed(_accuracy, _share, lambda counts: counts[:, 1] - counts[:, 0]),
}
"""Every metric of `blurb.metrics.METRICS`."""
