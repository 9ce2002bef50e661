"""How many runs would tell a difference."""

from __future__ import annotations

import math

from blurb.statistics.pooled import RunVariance
from blurb.statistics.welch import LEVEL

POWER = 0.8
"""Chance to find a difference, if nothing else is asked for."""
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


def runs_needed(difference: float, deviation: float, level: float = LEVEL, chance: float = POWER) -> int | None:
    """The smallest number of runs a side that tells a difference with that chance; None if `MOST` do not.

    >>> runs_needed(1.0, 1.0), runs_needed(2.0, 1.0)
    (17, 6)
    """
    if power(difference, deviation, MOST, level) < chance:
        return None
    low, high = 1, MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(difference, deviation, middle, level) >= chance else (middle, high)
    return high


def runs_for(
    difference: float, variance: RunVariance, level: float = LEVEL, chance: float = POWER, pilot: int = 2
) -> int | None:
    """The number of runs a side that tells a difference with at least that chance; None if it is above `MOST`.

    Of a variance that is stated, `runs_needed`. Of one that was estimated, the second stage of Stein's procedure (1945,
    Ann. Math. Stat. 16: 243): a variance that looks small by luck asks for too few runs, and Student's quantiles at its
    own degrees of freedom make up for that. The chance is then held whatever the true variance is.

    :param pilot: runs that are there anyway

    >>> estimated, known = RunVariance(1.0, 4), RunVariance(1.0, math.inf)
    >>> runs_for(1.5, estimated), runs_for(1.5, known), runs_for(9.0, estimated)
    (13, 9, 2)
    """
    if math.isinf(variance.degrees):
        count = runs_needed(difference, math.sqrt(variance.value), level, chance)
        return None if count is None else max(pilot, count)
    count = math.ceil(2 * variance.value * (_quantiles(variance.degrees, level, chance) / difference) ** 2)
    return max(pilot, count) if count <= MOST else None


def detectable(variance: RunVariance, runs: int, level: float = LEVEL, chance: float = POWER) -> float | None:
    """The smallest true difference that `runs` a side tell with that chance; None for fewer than two.

    >>> round(detectable(RunVariance(1.0, math.inf), 17), 2), round(detectable(RunVariance(1.0, 4), 13), 2)
    (0.99, 1.46)
    """
    from scipy.optimize import brentq

    if runs < 2:
        return None
    error = math.sqrt(2 * variance.value / runs)
    if not math.isinf(variance.degrees):
        return _quantiles(variance.degrees, level, chance) * error
    most = error * _quantiles(1, level, chance)
    deviation = math.sqrt(variance.value)
    return float(brentq(lambda difference: power(difference, deviation, runs, level) - chance, 0.0, most))


def _quantiles(degrees: float, level: float, chance: float) -> float:
    """Standard errors of a difference that a two-sided test tells with that chance, as Stein counts them."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 1 - level / 2) + stdtrit(degrees, chance))
