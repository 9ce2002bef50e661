"""Student's t: its tails, critical values and confidence intervals."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

LEVEL = 0.05
NODES = 200
NORMAL = 1.959964
"""Two-sided 5 % critical value of the normal distribution."""
PRECISION = 1e-12
"""Relative step at which a critical value is known: the next one would be the square of it."""
NORMAL_FROM = 50_000
"""Degrees of freedom from which Student's t equals the normal to five digits, and the quadrature is less precise."""


def half_width(values: Sequence[float]) -> float | None:
    """Half of the 95 % confidence interval of the mean by Student's t; None with fewer than two values.

    >>> round(half_width([79.0, 80.0, 81.0]), 2)
    2.48
    """
    if len(values) < 2:
        return None
    return t_critical(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))


def t_critical(degrees_of_freedom: float, level: float = LEVEL) -> float:
    """The two-sided critical value of Student's t, by Newton's method.

    The tail is convex and falls from 1 at 0, so the steps from there never go too far.

    >>> round(t_critical(1), 3), round(t_critical(10), 3), round(t_critical(10, 0.4), 3)
    (12.706, 2.228, 0.879)
    """
    degrees_of_freedom = max(1.0, degrees_of_freedom)
    t, step = 0.0, 1.0
    while step > PRECISION * t:
        step = (two_sided(t, degrees_of_freedom) - level) / (2 * _density(t, degrees_of_freedom))
        t += step
    return t


def two_sided(t: float, degrees_of_freedom: float) -> float:
    """Two-sided tail probability of Student's t, for at least one degree of freedom.

    With t = sqrt(freedom) / tan(angle) the tail is the integral of sin(angle) ** (freedom - 1) from 0 to the angle of
    `t`, computed by Gauss-Legendre quadrature in the root of the angle. (SciPy is not a dependency of blurb.)

    >>> round(two_sided(12.706, 1), 4), round(two_sided(2.228, 10), 4)
    (0.05, 0.05)
    """
    if degrees_of_freedom > NORMAL_FROM:
        return math.erfc(abs(t) / math.sqrt(2))
    limit = math.atan2(math.sqrt(degrees_of_freedom), abs(t))
    nodes, weights = _rule()
    roots = (nodes + 1) / 2
    tail = limit * float(np.sum(weights * roots * np.sin(limit * roots**2) ** (degrees_of_freedom - 1)))
    return min(1.0, 2 * tail / (math.sqrt(math.pi) * math.exp(_half_integer_step(degrees_of_freedom))))


def _density(t: float, degrees_of_freedom: float) -> float:
    """Of Student's t, or of the normal as in `two_sided`."""
    if degrees_of_freedom > NORMAL_FROM:
        return math.exp(-(t**2) / 2) / math.sqrt(2 * math.pi)
    power = (degrees_of_freedom + 1) / 2 * math.log1p(t**2 / degrees_of_freedom)
    return math.exp(-power - _half_integer_step(degrees_of_freedom)) / math.sqrt(degrees_of_freedom * math.pi)


def _half_integer_step(degrees_of_freedom: float) -> float:
    """The logarithm of gamma(freedom / 2) / gamma((freedom + 1) / 2)."""
    return math.lgamma(degrees_of_freedom / 2) - math.lgamma((degrees_of_freedom + 1) / 2)


@cache
def _rule() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Nodes and weights of Gauss-Legendre quadrature, cached as they take longer to compute than to use."""
    return np.polynomial.legendre.leggauss(NODES)
