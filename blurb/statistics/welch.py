"""Tests whether two sets of runs differ by more than seeds explain.

Student's t: its tails, critical values and confidence intervals, by SciPy.

Tests whether two sets of runs are alike: equivalence within a margin, by two one-sided tests (TOST).

Schuirmann (1987), J. Pharmacokinet. Biopharm. 15: 657. "No significant difference" is no such statement: the fewer the
runs, the more easily it comes about.

And levels of many tests: p-values corrected for their number, and a level cut into parts for looks one after another.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import numpy.typing as npt

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


NOISE = 1e-9
"""Variances of scores (squared points) below this are rounding errors: a single test example always counts more."""


SAME = 1e-9
"""Differences that are closer than this, in points, are equal up to rounding."""
POWER = 0.8
"""Probability of finding a difference of the size `detectable`."""


@dataclass(frozen=True)
class WelchComparison:
    """The result of a comparison. Everything but the difference is None if unknown.

    :param difference: difference of the means, None if one side has no run
    :param standard_error: its standard error, 0 if there is no variance between runs
    :param degrees_of_freedom: degrees of freedom of that error; None if it is 0
    :param swapped: (draws,) differences after swapping the answers of both sides example by example, the null
        distribution for two deterministic rows without runs; None for rows with runs
    :param of_runs: the comparison by runs alone, where the error has a part over test examples as well: a known part
        beside one of two degrees of freedom makes the test too free in its tail, so p is the larger of the two
    """

    difference: float | None
    standard_error: float | None = None
    degrees_of_freedom: float | None = None
    swapped: npt.NDArray[np.float64] | None = field(default=None, compare=False, repr=False)
    of_runs: WelchComparison | None = field(default=None, repr=False)

    @property
    def paired(self) -> bool:
        """Whether the test is over test examples and not over runs."""
        return self.swapped is not None

    @property
    def p(self) -> float | None:
        """Two-sided: how often runs of one encoder (if `paired`: swapped answers) would differ at least as much."""
        if self.swapped is not None and self.difference is not None:
            return _share_as_far(np.abs(self.swapped) >= abs(self.difference) - SAME)
        if self.difference is None or not self.standard_error or self.degrees_of_freedom is None:
            return None
        p = two_sided(self.difference / self.standard_error, self.degrees_of_freedom)
        return max(p, (self.of_runs.p if self.of_runs else None) or p)

    @property
    def p_drop(self) -> float | None:
        """One-sided: how often runs of one encoder would drop at least as much."""
        if self.swapped is not None and self.difference is not None:
            return _share_as_far(self.swapped <= self.difference + SAME)
        if self.p is None or self.difference is None:
            return None
        return self.p / 2 if self.difference < 0 else 1 - self.p / 2

    @property
    def detectable(self) -> float | None:
        """The smallest true difference that this comparison finds with a probability of 80 % at the 5 % level."""
        return self.detectable_at(LEVEL)

    def detectable_at(self, level: float) -> float | None:
        """The same at another two-sided level."""
        if self.standard_error is None or self.degrees_of_freedom is None:
            return None
        return (
            t_critical(self.degrees_of_freedom, level)
            + t_critical(self.degrees_of_freedom, 2 * (1 - POWER))
        ) * self.standard_error

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % confidence interval of the difference."""
        if (
            self.difference is None
            or self.standard_error is None
            or self.degrees_of_freedom is None
        ):
            return None
        half = t_critical(self.degrees_of_freedom) * self.standard_error
        return self.difference - half, self.difference + half

    @property
    def verdict(self) -> str:
        """`significant`, `not significant` or `cannot judge`; not corrected."""
        if self.p is None:
            return "cannot judge"
        return "significant" if self.p < LEVEL else "not significant"


def _share_as_far(as_far: npt.NDArray[np.bool_]) -> float:
    """Fraction of draws; the observed difference counts as one of them."""
    return (int(as_far.sum()) + 1) / (len(as_far) + 1)


def welch_test(
    values: Sequence[float], default: Sequence[float], unit_variance: float = 0.0, units: int = 0
) -> WelchComparison:
    """Welch's t-test of the scores of two sets of runs, one score per seed; sizes and variances may differ.

    The null hypothesis is that both are the same encoder, fine-tuned with different seeds. Runs of one encoder share
    the test set, so their difference varies only between runs; the choice of test examples adds `unit_variance` to the
    difference of two encoders (`blurb.statistics.bootstrap`).

    A side with one run gets the variance of the other, as under the null hypothesis. There is no verdict if neither
    side has two runs, or if no side varies, as equal scores say nothing about the next seed. There is no correction for
    multiple comparisons (see `blurb.statistics.welch`).

    :param unit_variance: variance of the difference over test examples
    :param units: number of test examples (or clusters)

    >>> welch_test([80.1, 80.3, 80.2], [79.1, 79.4, 79.2]).verdict
    'significant'
    >>> welch_test([80.1], [79.1, 79.4, 79.2]).verdict, welch_test([80.1], [79.1]).verdict
    ('significant', 'cannot judge')
    """
    if not values or not default:
        return WelchComparison(None)
    difference = statistics.fmean(values) - statistics.fmean(default)
    samples = (values, default)
    known = [sample for sample in samples if len(sample) > 1]
    if not known:
        return WelchComparison(difference)
    if unit_variance <= NOISE and all(statistics.variance(sample) < NOISE for sample in known):
        return WelchComparison(difference, 0.0)
    if len(known) == 1:
        run_error = statistics.variance(known[0]) * sum(1 / len(sample) for sample in samples)
        parts = [(run_error, len(known[0]) - 1)]
    else:
        parts = [(statistics.variance(sample) / len(sample), len(sample) - 1) for sample in samples]
    of_runs = _comparison_of_parts(difference, parts)
    if unit_variance > 0 and units > 1:
        return replace(
            _comparison_of_parts(difference, [*parts, (unit_variance, units - 1)]), of_runs=of_runs
        )
    return of_runs


def _comparison_of_parts(difference: float, parts: Sequence[tuple[float, int]]) -> WelchComparison:
    """The comparison whose variance is a sum of parts, each with its degrees of freedom (Satterthwaite)."""
    variance = sum(part for part, _ in parts)
    if not variance:
        return WelchComparison(difference, 0.0)
    degrees_of_freedom = variance**2 / sum(part**2 / degrees for part, degrees in parts)
    return WelchComparison(difference, math.sqrt(variance), degrees_of_freedom)


def combine_tests(parts: Sequence[tuple[float, WelchComparison]]) -> WelchComparison:
    """The comparison of weighted means, such as the BLURB score, from those of independent datasets.

    :param parts: weight and comparison of each
    """
    if not parts or any(part.difference is None for _, part in parts):
        return WelchComparison(None)
    if any(part.of_runs for _, part in parts):
        whole = combine_tests([(weight, replace(part, of_runs=None)) for weight, part in parts])
        return replace(
            whole, of_runs=combine_tests([(weight, part.of_runs or part) for weight, part in parts])
        )
    difference = sum(weight * (part.difference or 0.0) for weight, part in parts)
    if any(part.standard_error is None for _, part in parts):
        return WelchComparison(difference)
    errors = [
        ((weight * (part.standard_error or 0.0)) ** 2, part.degrees_of_freedom)
        for weight, part in parts
    ]
    variance = sum(error for error, _ in errors)
    swapped = None
    # Draws of different datasets are independent.
    if all(part.swapped is not None for _, part in parts):
        swapped = np.sum(
            [weight * part.swapped for weight, part in parts if part.swapped is not None], axis=0
        )
    certainty = sum(error**2 / degrees for error, degrees in errors if degrees is not None)
    # The variances are stated, not estimated.
    if variance and all(degrees == math.inf for error, degrees in errors if error):
        return WelchComparison(difference, math.sqrt(variance), math.inf, swapped)
    # Rounding, or one cluster, whose variance is unknown.
    if not variance or not certainty:
        return WelchComparison(difference, 0.0, swapped=swapped)
    return WelchComparison(difference, math.sqrt(variance), variance**2 / certainty, swapped)


def equivalence_margin(comparison: WelchComparison) -> float | None:
    """The smallest margin within which both are equivalent at the 5 % level; None if nothing is known of the variance.

    The greater bound of the 90 % interval of the difference: both one-sided tests reject outside of it.

    >>> round(equivalence_margin(WelchComparison(0.5, 0.2, 8.0)), 4)  # 0.5 + 1.8595 * 0.2
    0.8719
    >>> equivalence_margin(WelchComparison(0.3, 0.0)), equivalence_margin(WelchComparison(0.3))
    (0.3, None)
    """
    if comparison.difference is None or comparison.standard_error is None:
        return None
    if comparison.degrees_of_freedom is None:  # without variance
        return abs(comparison.difference)
    critical = t_critical(comparison.degrees_of_freedom, 2 * LEVEL)
    return abs(comparison.difference) + critical * comparison.standard_error


def p_beyond(comparison: WelchComparison, margin: float) -> float | None:
    """One-sided p of the hypothesis that the difference is at most the margin; small where it is beyond.

    >>> p_beyond(WelchComparison(3.0, 0.5, 8.0), 1.0) < 0.01 < p_beyond(WelchComparison(1.2, 0.5, 8.0), 1.0)
    True
    """
    if comparison.difference is None or comparison.standard_error is None:
        return None
    excess = abs(comparison.difference) - margin
    if not comparison.standard_error or comparison.degrees_of_freedom is None:
        return 0.0 if excess > 0 else 1.0
    tail = two_sided(excess / comparison.standard_error, comparison.degrees_of_freedom) / 2
    return tail if excess > 0 else 1 - tail


def holm(values: Sequence[float | None]) -> list[float | None]:
    """p-values corrected by Holm's step-down rule; unknown ones stay None and do not count.

    >>> holm([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    """
    order = sorted((p, place) for place, p in enumerate(values) if p is not None)
    corrected: list[float | None] = [None] * len(values)
    largest = 0.0
    for rank, (p, place) in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p))
        corrected[place] = round(largest, 12)
    return corrected


DECAY = 1.6
"""Of the parts without a stated number of looks: that of look k is in proportion to k to the power of minus this."""


def level_of_look(look: int, total: float, looks: int | None = None) -> float:
    """The level of a look.

    :param look: from 1
    :param total: level of all looks together
    :param looks: how many are planned, which get equal parts, and later ones 0; None for any number, whose parts decay

    >>> level_of_look(1, 0.05, 40), level_of_look(40, 0.05, 40), level_of_look(41, 0.05, 40)
    (0.00125, 0.00125, 0.0)
    >>> [round(level_of_look(look, 0.05), 5) for look in (1, 2, 40)]
    [0.02187, 0.00722, 6e-05]
    """
    from scipy.special import zeta

    if looks is None:
        # The zeta function is the sum of all k ** -DECAY.
        return total / (math.pow(look, DECAY) * float(zeta(DECAY)))
    return total / looks if look <= looks else 0.0


def level_spent(made: int, total: float, looks: int | None = None) -> float:
    """The sum of the levels of the looks that were made.

    >>> round(level_spent(12, 0.05, 40), 4), level_spent(40, 0.05, 40) <= 0.05, level_spent(1000, 0.05) < 0.05
    (0.015, True, True)
    """
    return min(total, math.fsum(level_of_look(look, total, looks) for look in range(1, made + 1)))
