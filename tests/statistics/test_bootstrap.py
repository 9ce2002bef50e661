"""Resamples against scoring anew, SciPy's bootstrap, and worlds of which the truth is known."""

import numpy as np
import pytest
from scipy import stats

from benchmarks import calibration
from blurb import metrics
from blurb.statistics.bootstrap import (
    Clusters,
    averaged,
    difference_variance,
    generator,
    paired_permutation_test,
    resampled,
    shared,
    spread,
)
from blurb.statistics.welch import welch_test


def world(
    random: np.random.Generator,
    runs: int,
    units: int,
    run_sd: float,
    level: float = 0.8,
    steady: float = 0.7,
) -> Clusters:
    """Runs of one encoder on one test set of yes or no answers, scored by accuracy.

    :param run_sd: of the runs' own levels, in points
    :param steady: share of the units that every run gets alike
    """
    alike = random.random(units) < level
    own = random.random((runs, units)) < level + random.normal(
        0, run_sd / 100 / (1 - steady), (runs, 1)
    )
    right = np.where(random.random(units) < steady, alike, own)
    counts = np.stack([right, np.ones_like(right)], -1).astype(float)
    return Clusters(metrics.get("accuracy"), counts, tuple(map(str, range(units))), "questions")


def test_resamples_are_those_of_scoring_the_drawn_units() -> None:
    units = world(np.random.default_rng(0), runs=3, units=50, run_sd=2)
    found = resampled(units, generator("x"), 7)
    for row, chosen in enumerate(generator("x").integers(50, size=(7, 50), dtype=np.int32)):
        assert found[row].tolist() == pytest.approx(
            (100 * units.counts[:, chosen, 0].mean(1)).tolist()
        )


def test_one_run_agrees_with_scipys_bootstrap() -> None:
    units = world(np.random.default_rng(1), runs=1, units=300, run_sd=0)
    mine = spread(units, "x")
    theirs = stats.bootstrap(
        (units.counts[0, :, 0],), np.mean, method="percentile", rng=1
    ).confidence_interval
    assert mine.interval == pytest.approx((100 * theirs.low, 100 * theirs.high), abs=0.4)


def test_a_figure_repeats_and_datasets_draw_apart() -> None:
    units = world(np.random.default_rng(2), runs=3, units=80, run_sd=1)
    assert spread(units, "gad").draws.tolist() == spread(units, "gad").draws.tolist()
    assert abs(np.corrcoef(spread(units, "gad").draws, spread(units, "ddi").draws)[0, 1]) < 0.05


def test_what_runs_share_is_told_from_what_they_do_not() -> None:
    random = np.random.default_rng(3)
    ratios = []
    for _ in range(20):
        units = world(random, runs=4, units=400, run_sd=0, level=0.5, steady=0.6)
        ratios.append(shared(resampled(units, random, 2_000)) / (100**2 * 0.25 * 0.6 / 400))
    # A share of 0.6 of the units has a variance of 1/4; the rest adds what all runs have in common by its mean, none.
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.15)


def test_a_mean_of_datasets_is_that_of_their_resamples() -> None:
    random = np.random.default_rng(4)
    spreads = {name: spread(world(random, 3, 100, 1), name) for name in ("gad", "ddi")}
    both = averaged(spreads, {"gad": 0.5, "ddi": 0.5})
    assert both.mean == pytest.approx((spreads["gad"].mean + spreads["ddi"].mean) / 2)
    assert both.draws.std() == pytest.approx(
        np.hypot(spreads["gad"].draws.std(), spreads["ddi"].draws.std()) / 2, rel=0.1
    )
    assert averaged(spreads, {"gad": 0.5, "hoc": 0.5}) is None


@pytest.mark.parametrize("runs", [3, 5, 10])
@pytest.mark.parametrize("run_sd", [0, 1, 2, 3])
def test_the_interval_covers_the_truth(runs: int, run_sd: float) -> None:
    """Between 92 and 97 % of worlds, give or take the luck of 200; docs/statistics.md has the table of thousands."""
    random = np.random.default_rng(100 * runs + run_sd)
    inside = 0
    for number in range(200):
        low, high = spread(world(random, runs, 200, run_sd), f"{number}", 500).interval
        inside += low <= 80 <= high
    assert 0.92 - 0.03 <= inside / 200 <= 0.97 + 0.02, inside / 200


@pytest.mark.parametrize("with_units", [False, True])
@pytest.mark.parametrize("runs", [3, 5, 10])
@pytest.mark.parametrize("run_sd", [0, 1, 2, 3])
def test_two_sets_of_runs_of_one_encoder_are_not_told_apart(
    runs: int, run_sd: float, with_units: bool
) -> None:
    random = np.random.default_rng(100 * runs + run_sd)
    worlds = 150 if with_units else 1_500
    alarms = drops = 0
    for number in range(worlds):
        both = world(random, 2 * runs, 200, run_sd)
        first, second = (
            Clusters(both.metric, both.counts[part], both.names, both.kind)
            for part in (slice(runs), slice(runs, None))
        )
        variance = difference_variance(first, second, f"{number}", 300) if with_units else 0.0
        found = welch_test(first.scores.tolist(), second.scores.tolist(), variance, 200)
        alarms += found.p is not None and found.p < 0.05
        drops += found.p_drop is not None and found.p_drop < 0.05
    slack = 3 * np.sqrt(0.05 * 0.95 / worlds) - 0.02  # 0.07 is the promise; few worlds add luck
    assert alarms / worlds <= 0.07 + max(0, slack), alarms / worlds
    assert drops / worlds <= 0.07 + max(0, slack), drops / worlds


@pytest.mark.costly
def test_a_paired_randomisation_is_scipys_permutation_test() -> None:
    random = np.random.default_rng(7)
    for _ in range(5):
        both = world(random, runs=2, units=60, run_sd=8)
        first, second = (
            Clusters(both.metric, both.counts[i : i + 1], both.names, both.kind) for i in (0, 1)
        )
        found = paired_permutation_test(first, second, "x")
        expected = stats.permutation_test(
            (first.counts[0, :, 0], second.counts[0, :, 0]),
            lambda a, b: a.mean() - b.mean(),
            permutation_type="samples",
            n_resamples=9_999,
            rng=1,
        ).pvalue
        assert found == pytest.approx(expected, abs=0.025)
    with pytest.raises(ValueError, match="one run each"):
        paired_permutation_test(both, both, "x")


def test_what_was_seen_is_one_of_the_draws() -> None:
    """So that p is never 0: runs as far apart as can be are as far as no draw, and p is one in a hundred."""
    right, ones = np.array([np.zeros(60), np.ones(60)]), np.ones(60)
    first, second = (
        Clusters(
            metrics.get("accuracy"),
            np.stack([side, ones], -1)[None],
            tuple(map(str, range(60))),
            "questions",
        )
        for side in right
    )
    assert paired_permutation_test(first, second, "x", draws=99) == 1 / 100


def test_runs_that_agree_leave_the_interval_of_the_units() -> None:
    """Equal runs differ by rounding alone; that must not pass for a variance that is known from next to nothing."""
    random = np.random.default_rng(8)
    for number in range(40):
        one = world(random, runs=1, units=500, run_sd=0, level=0.58)
        units = Clusters(one.metric, np.repeat(one.counts, 10, axis=0), one.names, one.kind)
        low, high = spread(units, f"{number}", 1_000).interval
        assert 6 < high - low < 11


@pytest.mark.parametrize("metric", ["entity_f1", "pearson"])
def test_intervals_of_other_metrics_cover_the_truth_too(metric: str) -> None:
    random = np.random.default_rng(9)
    inside = 0
    for number in range(150):
        if metric == "pearson":
            gold = random.normal(0, 1, 200)
            seen = gold + random.normal(0, 1, 200)  # what all runs see of it
            answers = seen + random.normal(0, 0.5, (4, 200))
            ones = np.ones_like(answers)
            counts = np.stack(
                [ones, ones * gold, answers, ones * gold**2, answers**2, gold * answers], -1
            )
            truth = 100 / np.sqrt(1 + 1 + 0.25)
        else:
            right = random.random((4, 200)) < np.where(random.random(200) < 0.8, 0.9, 0.5)
            ones = np.ones_like(right, dtype=float)
            counts, truth = (
                np.stack([right, ones, ones], -1).astype(float),
                100 * (0.8 * 0.9 + 0.2 * 0.5),
            )
        units = Clusters(metrics.get(metric), counts, tuple(map(str, range(200))), "units")
        low, high = spread(units, f"{number}", 500).interval
        inside += low <= truth <= high
    assert 0.89 <= inside / 150 <= 0.99


@pytest.mark.parametrize("kind", calibration.KINDS)
def test_intervals_of_few_examples_cover_what_they_say(kind: str) -> None:
    """Percentiles of resamples covered 0.90 to 0.92 with 20 pairs; here 0.92 everywhere, less the chance of 400."""
    cells = [
        calibration.coverage_of_few(kind, truth, units, 400)
        for units in (15, 20)
        for truth in (0.5, 0.8, 0.95)
    ]
    shares, widths = zip(*cells, strict=True)
    assert np.mean(shares) >= 0.94 - 0.008
    assert min(shares) >= 0.92 - 0.02
    assert np.mean(widths) <= 1.3


def test_where_all_few_answers_are_right_the_interval_is_wilsons() -> None:
    for right in (0.0, 1.0):
        counts = np.stack([np.full(20, right), np.ones(20)], -1)[None]
        run = Clusters(metrics.get("accuracy"), counts, tuple(map(str, range(20))), "questions")
        low, high = spread(run, "x", 20_000).interval
        u = stats.t.ppf(0.975, 19) * np.sqrt(20 / 19)
        far = 100 * u**2 / (20 + u**2)  # Wilson's end, with t for the normal
        wanted = (100 - far, 100) if right else (0, far)
        assert low == pytest.approx(wanted[0], abs=0.6)
        assert high == pytest.approx(wanted[1], abs=0.6)


def test_above_fifty_examples_the_draws_are_the_resamples() -> None:
    for units, same in ((51, True), (50, False)):
        run = world(np.random.default_rng(3), 1, units, 0)
        means = resampled(run, generator("x"), 1_000).mean(1)
        assert np.allclose(spread(run, "x", 1_000).draws, means) is same


def test_an_interval_of_one_example_or_of_constant_predictions_is_finite() -> None:
    one = Clusters(metrics.get("accuracy"), np.ones((1, 1, 2)), ("only",), "questions")
    assert spread(one, "x", 1_000).interval[0] < 80
    pearson = metrics.get("pearson")
    flat = Clusters(
        pearson, pearson.counts([1.0, 2.0, 3.0], [2.0, 2.0, 2.0])[None], ("a", "b", "c"), "pairs"
    )
    assert spread(flat, "x", 1_000).interval == (0, 0)
