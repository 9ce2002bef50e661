"""How many runs would tell a difference: against a simulation, and Cohen's table."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_ind

from blurb.statistics.planning import MOST, power, runs_needed


@pytest.mark.parametrize(("difference", "runs"), [(0.5, 64), (0.8, 26), (0.2, 394)])
def test_cohens_table(difference: float, runs: int) -> None:
    """Cohen 1988, table 2.4.1 (80 %, two-sided 5 %): 64, 26 and 393 a group; the last is one short of 80 %."""
    assert runs_needed(difference, 1.0) == pytest.approx(runs, abs=1)


@pytest.mark.parametrize(("difference", "runs"), [(1.5, 3), (3.0, 3), (1.0, 10)])
def test_power_is_that_of_simulated_tests(difference: float, runs: int) -> None:
    random = np.random.default_rng(0)
    first, other = random.normal(difference, 1, (4000, runs)), random.normal(0, 1, (4000, runs))
    told = (ttest_ind(first, other, axis=1).pvalue < 0.05).mean()
    assert power(difference, 1.0, runs) == pytest.approx(told, abs=0.025)


def test_the_ends() -> None:
    assert runs_needed(0.0, 1.0) is None
    assert runs_needed(0.01, 1.0) is None
    assert runs_needed(1.0, 0.0) == 2
    assert power(1.0, 1.0, 1) == 0.0
    count = runs_needed(0.13, 1.0)
    assert count is not None
    assert power(0.13, 1.0, count) >= 0.8 > power(0.13, 1.0, count - 1)
    assert count < MOST
