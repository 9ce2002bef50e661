"""Trend and noise of curves, held to closed forms and to simulation."""

import numpy as np
import pytest

from blurb.extensions.series import smoothing

STEPS = np.arange(20, dtype=float)


def _seen(curve: list[tuple[smoothing.Floats, smoothing.Floats]]) -> bool:
    pooled = smoothing.noise(curve)
    ratio, chance = (
        smoothing.signal_to_noise(curve, pooled),
        smoothing.ratio_by_chance(curve, pooled),
    )
    return ratio > chance


def test_a_line_has_no_noise_and_is_its_own_trend() -> None:
    line = 3 + 0.5 * STEPS
    assert smoothing.noise([(STEPS, line)]).deviation == pytest.approx(0, abs=1e-9)
    assert smoothing.smoother(STEPS) @ line == pytest.approx(line)


def test_noise_of_equal_gaps_is_that_of_second_differences() -> None:
    values = np.random.default_rng(1).normal(size=20)
    found = smoothing.noise([(STEPS, values)])
    assert found.deviation**2 == pytest.approx(np.mean(np.diff(values, 2) ** 2) / 6)


@pytest.mark.parametrize("true", [0.1, 0.3, 1.0])
def test_noise_of_several_runs_does_not_hold_the_signal(true: float) -> None:
    """Runs at different levels, each with a trend: flattened into one heap, noise would be 0.9 to 1.4 in all cases."""
    generator = np.random.default_rng(2)
    runs = [
        (STEPS, level + np.sqrt(STEPS) / 2 + true * generator.normal(size=20))
        for level in (0.0, 1.0, 2.0, 3.0)
    ]
    pooled = smoothing.noise(runs)
    assert pooled.deviation == pytest.approx(true, rel=0.25)
    ratio = smoothing.signal_to_noise(runs, pooled)
    assert ratio == pytest.approx(np.sqrt(19) / 2 / true, rel=0.35)
    heap = np.concatenate([values for _, values in runs])
    assert heap.std() > 1  # what the flattened noise would be


def test_the_degrees_of_freedom_are_those_of_the_drawn_variances() -> None:
    draws = np.random.default_rng(3).normal(size=(4_000, 20))
    found = [smoothing.noise([(STEPS, values)]) for values in draws]
    squares = np.array([each.deviation**2 for each in found if each is not None])
    freedom = next(each.freedom for each in found if each is not None)
    assert squares.mean() == pytest.approx(1, abs=0.03)
    # The variance of a scaled chi-squared is 2 / freedom
    assert 2 / squares.var() == pytest.approx(freedom, rel=0.08)


def test_what_a_maximum_gains_is_the_largest_of_normal_draws() -> None:
    flat = np.zeros(40)
    found = smoothing.best(np.arange(40.0), flat, smoothing.Noise(2.0, 30))
    expected = 2.0 * 2.160777  # of 40 standard normals (tables of order statistics)
    assert found.gain == pytest.approx(expected, rel=0.02)
    assert found.trend_gain < found.gain


def test_the_interval_at_the_best_place_covers_the_true_value_of_a_fixed_place() -> None:
    """Half the interval is t times the noise times the length of the weights: simulated at the middle of a line."""
    weights = smoothing.smoother(STEPS)[10]
    draws = np.random.default_rng(4).normal(size=(20_000, 20)) @ weights
    assert draws.std() == pytest.approx(np.linalg.norm(weights), rel=0.02)
    own = np.array([0.2, 0.5, 1, 0.5, 0.2]) / 2.4  # in the middle, the line is the weighted mean
    assert weights[8:13] == pytest.approx(own)


def test_a_curve_without_a_trend_is_seen_in_a_twentieth_of_cases() -> None:
    generator = np.random.default_rng(5)
    said = []
    for _ in range(300):
        said.append(_seen([(STEPS, generator.normal(size=20))]))
    assert np.mean(said) < 0.09


def test_noise_alone_falls_by_so_much_in_a_twentieth_of_cases() -> None:
    generator = np.random.default_rng(0)
    falls = 0
    for _ in range(500):
        curves = [(np.arange(12.0), generator.standard_normal(12)) for _ in range(2)]
        pooled, ratio = smoothing.noise(curves), smoothing.fall_by_chance(curves)
        limit = ratio * pooled.deviation
        falls += any(float(np.max(values[:-1] - values[1:])) > limit for _, values in curves)
    assert 0.03 < falls / 500 < 0.07


def test_a_rise_of_five_deviations_is_seen() -> None:
    assert _seen([(STEPS, 5 * STEPS / 19 + np.random.default_rng(6).normal(size=20))])


def test_too_few_points_say_nothing() -> None:
    curve = [(STEPS[:3], STEPS[:3])]
    assert smoothing.noise(curve) is None
    assert smoothing.signal_to_noise(curve, None) is None
    assert smoothing.ratio_by_chance(curve, None) is None
    assert smoothing.best(*curve[0], None).half is None


def test_a_logarithmic_axis_has_a_place_for_step_0() -> None:
    assert smoothing.axis_places([0, 10, 100], True) == pytest.approx(np.log([5, 10, 100]))
    assert smoothing.axis_places([0, 10], False) == pytest.approx([0, 10])
