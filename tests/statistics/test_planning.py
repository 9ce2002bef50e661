"""How many runs would tell a difference: against a simulation, and Cohen's table."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import t, ttest_ind

from blurb.statistics.pooled import (
    MOST,
    RunVariance,
    detectable,
    power,
    runs_for,
    runs_needed,
    weighted_variance,
)
from blurb.statistics.welch import DECAY, level_of_look, level_spent, welch_test


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
    assert runs_needed(0.0, 1.0) is runs_needed(0.01, 1.0) is None
    assert runs_needed(1.0, 0.0) == 2
    assert power(1.0, 1.0, 1) == 0.0
    count = runs_needed(0.13, 1.0)
    assert power(0.13, 1.0, count) >= 0.8 > power(0.13, 1.0, count - 1)
    assert count < MOST


@pytest.mark.parametrize("chance", [0.5, 0.8, 0.9])
@pytest.mark.parametrize(("difference", "deviation"), [(1.0, 1.0), (0.7, 1.0), (1.5, 2.0)])
def test_a_known_deviation_keeps_its_promise(
    chance: float, difference: float, deviation: float
) -> None:
    """Simulated: the number that is promised tells the difference that often."""
    runs = runs_for(difference, RunVariance(deviation**2, math.inf), chance=chance)
    random = np.random.default_rng(1)
    first, other = (
        random.normal(difference, deviation, (4000, runs)),
        random.normal(0, deviation, (4000, runs)),
    )
    told = (ttest_ind(first, other, axis=1).pvalue < 0.05).mean()
    assert told == pytest.approx(power(difference, deviation, runs), abs=0.025)
    assert told == pytest.approx(chance, abs=0.05)


def two_stages(
    truth: float, detect: float, chance: float, worlds: int = 3000
) -> tuple[float, float, float]:
    """Five pilot runs decide how many follow: shares that Stein's and Welch's tests tell, and mean number of runs."""
    random, pilot = np.random.default_rng(2), 5
    stein, welch, numbers = 0, 0, []
    edge = t.isf(0.025, pilot - 1)
    for _ in range(worlds):
        start = random.normal(truth, 1.0, pilot)
        variance = RunVariance(start.var(ddof=1), pilot - 1)
        runs = runs_for(detect, variance, chance=chance, pilot=pilot) or MOST
        first, other = (
            np.concatenate([start, random.normal(truth, 1.0, runs - pilot)]),
            random.normal(0, 1.0, runs),
        )
        difference = first.mean() - other.mean()
        stein += abs(difference) > edge * math.sqrt(2 * variance.value / runs)
        p = welch_test(first.tolist(), other.tolist()).p
        welch += p is not None and p < 0.05
        numbers.append(runs)
    return stein / worlds, welch / worlds, float(np.mean(numbers))


@pytest.mark.parametrize(("detect", "chance"), [(1.0, 0.8), (0.7, 0.8), (1.0, 0.9)])
def test_a_pilot_keeps_its_promise_whatever_its_variance_looks_like(
    detect: float, chance: float
) -> None:
    """Within five points by Stein's own test; Welch's over all runs, which `compare` makes, is at most two below."""
    stein, welch, runs = two_stages(detect, detect, chance)
    assert stein == pytest.approx(chance, abs=0.05)
    assert welch > chance - 0.02
    # The price of not knowing the variance
    assert runs > (runs_needed(detect, 1.0, chance=chance) or 0)


def test_stopping_by_the_variance_raises_no_false_alarms() -> None:
    stein, welch, _ = two_stages(0.0, 1.0, 0.8)
    assert stein < 0.06
    assert welch < 0.07


def test_without_steins_quantiles_a_pilot_promises_too_much() -> None:
    """Taking five runs' deviation for the true one finds a difference too seldom."""
    random, told = np.random.default_rng(3), 0
    for _ in range(500):
        pilot = random.normal(1.0, 1.0, 5)
        runs = max(5, runs_needed(1.0, float(pilot.std(ddof=1))) or MOST)
        first = np.concatenate([pilot, random.normal(1.0, 1.0, runs - 5)])
        told += ttest_ind(first, random.normal(0, 1.0, runs)).pvalue < 0.05
    assert told / 500 < 0.76


@pytest.mark.parametrize("degrees", [2, 8, math.inf])
@pytest.mark.parametrize("runs", [2, 5, 30])
def test_what_is_detectable_asks_for_these_runs(degrees: float, runs: int) -> None:
    variance = RunVariance(0.49, degrees)
    difference = detectable(variance, runs)
    assert runs_for(difference * 1.0001, variance) == runs
    assert runs_for(difference * 0.97, variance) in range(runs, runs + 4)


def test_what_cannot_be_planned() -> None:
    assert runs_for(0.01, RunVariance(1.0, 4)) is None
    assert runs_for(0.01, RunVariance(1.0, math.inf)) is None
    assert detectable(RunVariance(1.0, 4), 1) is None
    assert runs_for(100.0, RunVariance(1.0, math.inf), pilot=5) == 5


def test_a_mean_of_scores_has_the_variance_of_its_parts() -> None:
    """Against a simulation, and the closed form of equal parts."""
    parts = [(0.5, RunVariance(1.0, 2)), (0.3, RunVariance(4.0, 4)), (0.2, RunVariance(0.25, 9))]
    random = np.random.default_rng(4)
    drawn = sum(weight * random.normal(0, math.sqrt(one.value), 200_000) for weight, one in parts)
    whole = weighted_variance(parts)
    assert whole.value == pytest.approx(float(np.var(drawn)), rel=0.02)
    assert 2 < whole.degrees < 15
    assert weighted_variance([(1.0, RunVariance(2.0, math.inf))]) == RunVariance(2.0, math.inf)
    assert weighted_variance([(0.25, RunVariance(1.0, 3))] * 4).degrees == pytest.approx(12)


# Levels of many looks: sums worked by hand, a series summed to its end, and the package online-fdr where it is.


@pytest.mark.parametrize("looks", [1, 7, 40, 1000])
@pytest.mark.parametrize("total", [0.01, 0.05])
def test_stated_looks_share_the_level_and_nothing_is_left_after_them(
    looks: int, total: float
) -> None:
    levels = [level_of_look(look, total, looks) for look in range(1, looks + 1)]
    assert math.fsum(levels) == pytest.approx(total)
    assert set(levels) == {total / looks}
    assert level_of_look(looks + 1, total, looks) == 0.0


def test_any_number_of_looks_spends_no_more_than_the_level() -> None:
    """The rest of the series lies between two integrals: summed to N, it misses (N ** -0.6) / 0.6 at most."""
    count = 100_000
    levels = [level_of_look(look, 0.05) for look in range(1, count + 1)]
    missing = levels[0] * count ** (1 - DECAY) / (DECAY - 1)
    assert math.fsum(levels) < 0.05
    assert math.fsum(levels) + missing == pytest.approx(0.05, rel=1e-6)
    assert all(later < earlier for earlier, later in itertools.pairwise(levels))


@pytest.mark.parametrize("looks", [40, None])
def test_what_is_spent_is_the_sum(looks: int | None) -> None:
    assert level_spent(0, 0.05, looks) == 0.0
    for made in (1, 3, 40):
        assert level_spent(made, 0.05, looks) == pytest.approx(
            sum(level_of_look(look, 0.05, looks) for look in range(1, made + 1))
        )
    assert level_spent(60, 0.05, 40) == 0.05


def test_the_levels_of_stated_looks_are_those_of_online_fdr() -> None:
    """Not in the extras: the package is an oracle of this one test."""
    spending = pytest.importorskip("online_fdr.p_values.spending.alpha_spending")
    functions = pytest.importorskip("online_fdr.p_values.spending.functions.bonferroni")
    theirs = spending.AlphaSpending(alpha=0.05, spend_func=functions.Bonferroni(k=40))
    for look in range(1, 41):
        mine = level_of_look(look, 0.05, 40)
        assert theirs.test_one(mine * (0.99 if look % 2 else 1.01)) is bool(look % 2)
        assert theirs.alpha == pytest.approx(mine)
    with pytest.raises(ValueError, match="horizon"):
        theirs.test_one(0.0)
    assert level_of_look(41, 0.05, 40) == 0.0
