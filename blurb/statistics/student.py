"""Student's t: its tails, critical values and confidence intervals, by SciPy."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from functools import cache

LEVEL = 0.05
NORMAL = 1.959964
"""Two-sided 5 % critical value of the normal distribution."""


def half_width(values: Sequence[float]) -> float | None:
    """Half of the 95 % confidence interval of the mean by Student's t; None with fewer than two values.

    >>> round(half_width([79.0, 80.0, 81.0]), 2)
    2.48
    """
    if len(values) < 2:
        return None
    return t_critical(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))


@cache
def t_critical(degrees_of_freedom: float, level: float = LEVEL) -> float:
    """The two-sided critical value of Student's t, for at least one degree of freedom.

    >>> round(t_critical(1), 3), round(t_critical(10), 3), round(t_critical(10, 0.4), 3)
    (12.706, 2.228, 0.879)
    """
    from scipy.special import stdtrit

    return -float(stdtrit(max(1.0, degrees_of_freedom), level / 2))


def two_sided(t: float, degrees_of_freedom: float) -> float:
    """Two-sided tail probability of Student's t, for at least one degree of freedom.

    >>> round(two_sided(12.706, 1), 4), round(two_sided(2.228, 10), 4)
    (0.05, 0.05)
    """
    from scipy.special import stdtr

    return 2 * float(stdtr(degrees_of_freedom, -abs(t)))
