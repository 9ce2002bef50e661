"""Whether two sets of runs differ by more than their seeds do."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

LEVEL = 0.05
NODES = 200


@dataclass(frozen=True)
class Comparison:
    """The outcome of a comparison.

    :param difference: of the means, None if one side has no run
    :param p: two-sided, None if it cannot be known
    """

    difference: float | None
    p: float | None

    @property
    def verdict(self) -> str:
        """`significant`, `not significant` or `cannot judge`."""
        if self.p is None:
            return "cannot judge"
        return "significant" if self.p < LEVEL else "not significant"


def compare(values: Sequence[float], default: Sequence[float]) -> Comparison:
    """Welch's t-test of the scores of two sets of runs, one score a seed; the sides may differ in size and variance.

    It respects the variance between seeds, but not yet that of the test units: a verdict holds for this test set and
    for runs like these, not for other texts. It corrects nothing for many comparisons either. There is no judgement
    with fewer than two runs on a side, or where no side varies: equal scores say nothing about the next seed.

    >>> compare([80.1, 80.3, 80.2], [79.1, 79.4, 79.2]).verdict
    'significant'
    >>> compare([80.1], [79.1, 79.4, 79.2]).verdict
    'cannot judge'
    """
    if not values or not default:
        return Comparison(None, None)
    difference = statistics.fmean(values) - statistics.fmean(default)
    if min(len(values), len(default)) < 2:
        return Comparison(difference, None)
    errors = [statistics.variance(side) / len(side) for side in (values, default)]
    if sum(errors) == 0:
        return Comparison(difference, None)
    shares = [error / sum(errors) for error in errors]
    freedom = 1 / sum(share**2 / (len(side) - 1) for share, side in zip(shares, (values, default), strict=True))
    return Comparison(difference, two_sided(difference / math.sqrt(sum(errors)), freedom))


def half_width(values: Sequence[float]) -> float | None:
    """Half of the 95 % confidence interval of the mean by Student's t; None with fewer than two values.

    >>> round(half_width([79.0, 80.0, 81.0]), 2)
    2.48
    """
    if len(values) < 2:
        return None
    return critical(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))


def critical(freedom: float) -> float:
    """The t that Student's t passes on either side with probability 5 %, by bisection of `two_sided`.

    >>> round(critical(1), 3), round(critical(10), 3)
    (12.706, 2.228)
    """
    low, high = 0.0, 13.0  # one degree of freedom has the largest, 12.7
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided(middle, freedom) > LEVEL else (low, middle)
    return high


def two_sided(t: float, freedom: float) -> float:
    """Probability that Student's t, of at least one degree of freedom, is farther from 0 than `t`.

    With t = sqrt(freedom) / tan(angle) the tail is the integral of sin(angle) ** (freedom - 1) from 0 to the angle of
    `t`; Gauss-Legendre in the root of the angle takes it. SciPy, which has this function, is no dependency of blurb.

    >>> round(two_sided(12.706, 1), 4), round(two_sided(2.228, 10), 4)
    (0.05, 0.05)
    """
    limit = math.atan2(math.sqrt(freedom), abs(t))
    nodes, weights = _rule()
    roots = (nodes + 1) / 2
    tail = limit * float(np.sum(weights * roots * np.sin(limit * roots**2) ** (freedom - 1)))
    half = math.lgamma(freedom / 2) - math.lgamma((freedom + 1) / 2)
    return min(1.0, 2 * tail / (math.sqrt(math.pi) * math.exp(half)))


@cache
def _rule() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Nodes and weights of Gauss-Legendre, which take longer to find than to use."""
    return np.polynomial.legendre.leggauss(NODES)
