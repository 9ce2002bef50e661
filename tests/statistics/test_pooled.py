"""The variance within checkpoints: against SciPy's tests, and Student's test where there are two checkpoints."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from blurb.statistics.pooled import (
    RunVariance,
    Squares,
    bartlett_p,
    compare,
    pool_variance,
    stated_variance,
)


def series(seed: int, checkpoints: int, runs: int) -> list[list[float]]:
    return np.random.default_rng(seed).normal(80, 1, (checkpoints, runs)).tolist()


def test_two_checkpoints_are_students_test() -> None:
    first, other = [80.0, 81.5, 79.2], [78.0, 79.5, 80.1, 79.9]
    variance = pool_variance([Squares.of(first), Squares.of(other)])
    assert variance is not None
    found = compare(first, other, variance)
    expected = stats.ttest_ind(first, other)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.interval == pytest.approx(tuple(expected.confidence_interval()), rel=1e-5)


def test_more_checkpoints_are_the_error_of_an_analysis_of_variance() -> None:
    """Within-group mean square of a one-way layout, by its definition."""
    scores = series(1, 6, 3)
    variance = pool_variance([Squares.of(one) for one in scores])
    within = sum(sum((value - np.mean(one)) ** 2 for value in one) for one in scores) / (6 * 2)
    assert variance == RunVariance(pytest.approx(within), 12)
    found = compare(scores[0], scores[1], RunVariance(within, 12))
    t = (np.mean(scores[0]) - np.mean(scores[1])) / math.sqrt(within * 2 / 3)
    assert found.p_drop == pytest.approx(stats.t.cdf(t, 12))


def test_a_stated_deviation_is_a_z_test() -> None:
    found = compare([78.0, 79.0], [80.0], stated_variance(0.7))
    assert found.p_drop == pytest.approx(stats.norm.cdf(-1.5 / (0.7 * math.sqrt(1.5))))
    assert found.interval == pytest.approx(
        tuple(stats.norm.interval(0.95, -1.5, 0.7 * math.sqrt(1.5))), abs=1e-5
    )


@pytest.mark.parametrize(("checkpoints", "runs"), [(2, 3), (5, 3), (20, 5)])
def test_homogeneity_is_bartletts_test(checkpoints: int, runs: int) -> None:
    scores = series(2, checkpoints, runs)
    scores[0] = [80 + 3 * (value - 80) for value in scores[0]]
    assert bartlett_p([Squares.of(one) for one in scores]) == pytest.approx(
        stats.bartlett(*scores).pvalue
    )


def test_single_runs_say_nothing_of_the_variance() -> None:
    assert pool_variance([]) is None
    assert pool_variance([Squares.of([80.0]), Squares.of([])]) is None
    assert Squares.of([80.0]).sd is None
    several = [Squares.of(one) for one in series(3, 3, 3)]
    assert bartlett_p(several[:1]) is None
    assert bartlett_p([*several, Squares.of([80.0])]) == bartlett_p(several)
    assert bartlett_p([*several, Squares.of([80.0, 80.0])]) is None  # log of nothing
    assert compare([80.0], [], stated_variance(1.0)).difference is None
    assert compare([79.0, 79.0], [80.0], RunVariance(0.0, 1)).p is None
