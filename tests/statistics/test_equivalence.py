"""Equivalence within a margin. Oracles: SciPy's Welch test, shifted to both margins, and its rate in simulations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from blurb.statistics.welch import WelchComparison, equivalence_margin, p_beyond, welch_test


@pytest.mark.parametrize("seed", range(20))
def test_two_one_sided_tests_of_scipy_agree(seed: int) -> None:
    random = np.random.default_rng(seed)
    first, other = random.normal(80, 0.7, 4).tolist(), random.normal(80.2, 1.1, 5)
    reached = equivalence_margin(welch_test(first, other.tolist()))
    for margin in (reached * 0.99, reached * 1.01):
        above = stats.ttest_ind(first, other + margin, equal_var=False, alternative="less").pvalue
        below = stats.ttest_ind(
            first, other - margin, equal_var=False, alternative="greater"
        ).pvalue
        assert (max(above, below) < 0.05) == (margin > reached)


@pytest.mark.parametrize("seed", range(10))
def test_beyond_a_margin_as_scipy_says(seed: int) -> None:
    random = np.random.default_rng(seed)
    first, other = random.normal(80, 0.7, 4).tolist(), random.normal(82, 1.1, 5)
    beyond = p_beyond(welch_test(first, other.tolist()), 1.0)
    expected = stats.ttest_ind(first, other - 1.0, equal_var=False, alternative="less").pvalue
    assert beyond == pytest.approx(expected, abs=1e-9)


def test_runs_at_the_margin_pass_in_five_per_cent_and_equal_ones_mostly() -> None:
    random = np.random.default_rng(0)

    def share(difference: float, runs: int) -> float:
        passed = 0
        for _ in range(1_000):
            reached = equivalence_margin(
                welch_test(
                    *(random.normal(mean, 0.5, runs).tolist() for mean in (80 + difference, 80))
                )
            )
            passed += reached is not None and reached < 1.0
        return passed / 1_000

    assert share(1.0, 5) < 0.07
    assert share(0.0, 7) > 0.8
    assert (
        share(0.0, 2) < share(0.0, 3) < share(0.0, 5)
    )  # few runs prove little, where p > 0.05 would pass more


def test_without_variance_and_without_knowledge() -> None:
    assert (
        equivalence_margin(WelchComparison(None))
        is p_beyond(WelchComparison(None), 1.0)
        is equivalence_margin(WelchComparison(0.3))
        is None
    )
    assert (p_beyond(WelchComparison(1.5, 0.0), 1.0), p_beyond(WelchComparison(0.5, 0.0), 1.0)) == (
        0.0,
        1.0,
    )
