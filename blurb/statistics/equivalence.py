"""Tests whether two sets of runs are alike: equivalence within a margin, by two one-sided tests (TOST).

Schuirmann (1987), J. Pharmacokinet. Biopharm. 15: 657. "No significant difference" is no such statement: the fewer the
runs, the more easily it comes about.
"""

from __future__ import annotations

from blurb.statistics.student import LEVEL, t_critical, two_sided
from blurb.statistics.welch import Comparison


def within(comparison: Comparison) -> float | None:
    """The smallest margin within which both are equivalent at the 5 % level; None if nothing is known of the variance.

    The greater bound of the 90 % interval of the difference: both one-sided tests reject outside of it.

    >>> round(within(Comparison(0.5, 0.2, 8.0)), 4)  # 0.5 + 1.8595 * 0.2
    0.8719
    >>> within(Comparison(0.3, 0.0)), within(Comparison(0.3))
    (0.3, None)
    """
    if comparison.difference is None or comparison.standard_error is None:
        return None
    if comparison.degrees_of_freedom is None:  # without variance
        return abs(comparison.difference)
    critical = t_critical(comparison.degrees_of_freedom, 2 * LEVEL)
    return abs(comparison.difference) + critical * comparison.standard_error


def p_beyond(comparison: Comparison, margin: float) -> float | None:
    """One-sided p of the hypothesis that the difference is at most the margin; small where it is beyond.

    >>> p_beyond(Comparison(3.0, 0.5, 8.0), 1.0) < 0.01 < p_beyond(Comparison(1.2, 0.5, 8.0), 1.0)
    True
    """
    if comparison.difference is None or comparison.standard_error is None:
        return None
    excess = abs(comparison.difference) - margin
    if not comparison.standard_error or comparison.degrees_of_freedom is None:
        return 0.0 if excess > 0 else 1.0
    tail = two_sided(excess / comparison.standard_error, comparison.degrees_of_freedom) / 2
    return tail if excess > 0 else 1 - tail
