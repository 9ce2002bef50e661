"""Welch's t-test and the interval of a mean, against SciPy."""

from __future__ import annotations

import random

import pytest
from scipy import stats

from blurb.leaderboard.significance import compare, critical, half_width, two_sided


def test_agrees_with_scipy() -> None:
    draw = random.Random(1)
    for _ in range(300):
        sides = [
            [draw.gauss(80 + draw.random(), draw.choice([0.01, 0.3, 3])) for _ in range(draw.randint(2, 12))]
            for _ in range(2)
        ]
        expected = stats.ttest_ind(*sides, equal_var=False).pvalue
        assert compare(*sides).p == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("freedom", [1, 1.01, 2, 7.3, 60, 5000])
@pytest.mark.parametrize("t", [0, 1e-6, 0.3, -2, 6, 40])
def test_the_tail_of_student(t: float, freedom: float) -> None:
    assert two_sided(t, freedom) == pytest.approx(2 * stats.t.sf(abs(t), freedom), rel=1e-6, abs=1e-300)


@pytest.mark.parametrize(
    ("values", "default", "difference"),
    [([], [1.0, 2.0], None), ([3.0], [1.0, 2.0], 1.5), ([1.0, 2.0], [3.0], -1.5), ([2.0, 2.0], [1.0, 1.0], 1.0)],
)
def test_what_cannot_be_judged(values: list[float], default: list[float], difference: float | None) -> None:
    comparison = compare(values, default)
    assert (comparison.difference, comparison.p, comparison.verdict) == (difference, None, "cannot judge")


def test_variance_between_seeds_counts() -> None:
    assert compare([81.0, 81.1, 80.9], [80.0, 80.1, 79.9]).verdict == "significant"
    assert compare([84.0, 78.1, 80.9], [80.0, 83.1, 76.9]).verdict == "not significant"
    assert compare([80.0, 80.2], [80.0, 80.2]).p == pytest.approx(1)


@pytest.mark.parametrize("freedom", [1, 2, 4, 9, 7.3, 200])
def test_the_critical_value_of_student(freedom: float) -> None:
    assert critical(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-6)


def test_the_interval_of_a_mean() -> None:
    values = [80.1, 81.3, 79.9, 80.6]
    low, high = stats.t.interval(0.95, 3, loc=0, scale=stats.sem(values))
    assert half_width(values) == pytest.approx((high - low) / 2)
    assert half_width([80.1]) is half_width([]) is None
