"""How many runs would tell a difference."""

from __future__ import annotations

import math

LEVEL, POWER = 0.05, 0.8
MOST = 1_000
"""Runs a side beyond which nobody plans."""


def power(difference: float, deviation: float, runs: int, level: float = LEVEL) -> float:
    """The probability that a two-sided t-test with `runs` a side tells a true difference.

    Both sides have the standard deviation `deviation`; the statistic follows a noncentral t (Cohen 1988, chapter 2).

    >>> round(power(1.0, 1.0, 17), 3)
    0.807
    """
    from scipy.stats import nct, t

    freedom = 2 * runs - 2
    if freedom < 1:
        return 0.0
    if deviation == 0:
        return float(difference != 0)
    edge = t.isf(level / 2, freedom)
    shift = abs(difference) / (deviation * math.sqrt(2 / runs))
    # The far tail is nothing beside the near one, and its function loses all digits for large shifts.
    return float(nct.sf(edge, freedom, shift))


def runs_needed(difference: float, deviation: float, level: float = LEVEL) -> int | None:
    """The smallest number of runs a side that tells a difference four times in five; None if `MOST` do not.

    >>> runs_needed(1.0, 1.0), runs_needed(2.0, 1.0)
    (17, 6)
    """
    if power(difference, deviation, MOST, level) < POWER:
        return None
    low, high = 1, MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(difference, deviation, middle, level) >= POWER else (middle, high)
    return high
