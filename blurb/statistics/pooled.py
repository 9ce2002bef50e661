"""The variance between runs of one checkpoint, from the runs of many checkpoints.

Three runs tell little of a variance, and three runs of each of twenty checkpoints tell it well, if the variance is the
same for all (`homogeneity` asks). Under that assumption, and for scores that are normal, the pooled variance does not
depend on the means, and the difference of two means over its error follows Student's t with the pooled degrees of
freedom (the usual two-sample test, with more than two samples to estimate the error).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from blurb.statistics.welch import LEVEL, NOISE, WelchComparison


@dataclass(frozen=True)
class Squares:
    """The variance between runs, as estimated from the runs of one checkpoint.

    :param total: sum of squared deviations from their mean, in squared points
    :param degrees: number of runs less one
    """

    total: float
    degrees: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Squares:
        """Those of scores, one a run; of no run as of one.

        >>> Squares.of([79.0, 80.0, 81.0]), Squares.of([80.0])
        (Squares(total=2.0, degrees=2), Squares(total=0.0, degrees=0))
        """
        if len(values) < 2:
            return cls(0.0, 0)
        return cls(statistics.variance(values) * (len(values) - 1), len(values) - 1)

    @property
    def sd(self) -> float | None:
        """Standard deviation of these runs alone; None for one run."""
        return math.sqrt(self.total / self.degrees) if self.degrees else None


@dataclass(frozen=True)
class RunVariance:
    """A variance between runs, in squared points, and how well it is known.

    :param degrees: degrees of freedom; infinity if it is stated and not estimated
    """

    value: float
    degrees: float


def pool_variance(checkpoints: Sequence[Squares]) -> RunVariance | None:
    """The variance within checkpoints; None if none has two runs.

    >>> pool([Squares(2.0, 2), Squares(0.0, 0), Squares(4.0, 4)])
    RunVariance(value=1.0, degrees=6)
    """
    degrees = sum(each.degrees for each in checkpoints)
    return (
        RunVariance(math.fsum(each.total for each in checkpoints) / degrees, degrees)
        if degrees
        else None
    )


def stated_variance(sd: float) -> RunVariance:
    """A variance that somebody states, as a standard deviation in points, and that is taken as known."""
    return RunVariance(sd * sd, math.inf)


def standard_error(variance: float, runs: int, others: int) -> float:
    """Of a difference of two means over runs."""
    return math.sqrt(variance * (1 / runs + 1 / others))


def compare(
    values: Sequence[float], default: Sequence[float], variance: RunVariance
) -> WelchComparison:
    """Compares the scores of two sets of runs, one score a run, by a variance that is known from elsewhere, too.

    >>> round(compare([80.0, 81.0], [79.0, 79.5], RunVariance(0.3125, 2)).p, 4)  # as Student's two-sample test
    0.1548
    >>> round(compare([78.0], [80.0], stated(0.7)).p_drop, 4)  # as a z-test
    0.0217
    """
    if not values or not default:
        return WelchComparison(None)
    difference = statistics.fmean(values) - statistics.fmean(default)
    if variance.value < NOISE:
        return WelchComparison(difference, 0.0)
    return WelchComparison(
        difference, standard_error(variance.value, len(values), len(default)), variance.degrees
    )


def bartlett_p(checkpoints: Sequence[Squares]) -> float | None:
    """p of the hypothesis that all checkpoints have one variance between runs, by Bartlett's test (1937).

    None if fewer than two checkpoints have two runs, or any of those does not vary. The test also rejects for scores
    that are far from normal, for which the pooled test holds less well, too.

    >>> round(homogeneity([Squares(2.0, 4), Squares(30.0, 4)]), 4)
    0.0231
    """
    from scipy.special import chdtrc

    known = [each for each in checkpoints if each.degrees]
    whole = pool_variance(known)
    if len(known) < 2 or whole is None or any(each.total / each.degrees < NOISE for each in known):
        return None
    logs = [each.degrees * math.log(each.total / each.degrees) for each in known]
    excess = whole.degrees * math.log(whole.value) - math.fsum(logs)
    shrinkage = 1 + (sum(1 / each.degrees for each in known) - 1 / whole.degrees) / (
        3 * (len(known) - 1)
    )
    return float(chdtrc(len(known) - 1, max(0.0, excess / shrinkage)))


def weighted_variance(parts: Sequence[tuple[float, RunVariance]]) -> RunVariance:
    """The variance of a weighted mean of independent scores, such as the BLURB score (Satterthwaite's degrees).

    :param parts: weight and variance of each

    >>> weighted([(0.5, RunVariance(4.0, 4)), (0.5, RunVariance(4.0, 4))])
    RunVariance(value=2.0, degrees=8.0)
    """
    values = [weight**2 * part.value for weight, part in parts]
    whole = math.fsum(values)
    certainty = math.fsum(
        value**2 / part.degrees for value, (_, part) in zip(values, parts, strict=True)
    )
    return RunVariance(whole, whole**2 / certainty if certainty else math.inf)


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


def runs_needed(
    difference: float, deviation: float, level: float = LEVEL, chance: float = POWER
) -> int | None:
    """The smallest number of runs a side that tells a difference with that chance; None if `MOST` do not.

    >>> runs_needed(1.0, 1.0), runs_needed(2.0, 1.0)
    (17, 6)
    """
    if power(difference, deviation, MOST, level) < chance:
        return None
    low, high = 1, MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle)
            if power(difference, deviation, middle, level) >= chance
            else (middle, high)
        )
    return high


def runs_for(
    difference: float,
    variance: RunVariance,
    level: float = LEVEL,
    chance: float = POWER,
    pilot: int = 2,
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
    count = math.ceil(
        2 * variance.value * (_errors_needed(variance.degrees, level, chance) / difference) ** 2
    )
    return max(pilot, count) if count <= MOST else None


def detectable(
    variance: RunVariance, runs: int, level: float = LEVEL, chance: float = POWER
) -> float | None:
    """The smallest true difference that `runs` a side tell with that chance; None for fewer than two.

    >>> round(detectable(RunVariance(1.0, math.inf), 17), 2), round(detectable(RunVariance(1.0, 4), 13), 2)
    (0.99, 1.46)
    """
    from scipy.optimize import brentq

    if runs < 2:
        return None
    error = math.sqrt(2 * variance.value / runs)
    if not math.isinf(variance.degrees):
        return _errors_needed(variance.degrees, level, chance) * error
    most = error * _errors_needed(1, level, chance)
    deviation = math.sqrt(variance.value)
    return float(
        brentq(lambda difference: power(difference, deviation, runs, level) - chance, 0.0, most)
    )


def _errors_needed(degrees: float, level: float, chance: float) -> float:
    """Standard errors of a difference that a two-sided test tells with that chance, as Stein counts them."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 1 - level / 2) + stdtrit(degrees, chance))
