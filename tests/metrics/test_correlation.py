"""Oracle: scipy.stats.pearsonr."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from scipy.stats import pearsonr

from blurb.metrics import pearson
from blurb.metrics.functions.pearson import NOISE

score_pairs = st.lists(
    st.tuples(
        st.integers(0, 400).map(lambda n: n / 100), st.integers(-300, 700).map(lambda n: n / 100)
    ),
    min_size=2,
    max_size=30,
)


def scipy_pearson(gold: np.ndarray, predicted: np.ndarray) -> float:
    return (
        float(pearsonr(gold, predicted).statistic)
        if np.ptp(gold) > 0 and np.ptp(predicted) > 0
        else 0.0
    )


@settings(max_examples=80, deadline=None)
@given(score_pairs)
def test_equals_scipy_clipped_and_raw(pairs: list[tuple[float, float]]) -> None:
    gold, predicted = np.array(pairs).T
    scores = pearson(gold.tolist(), predicted.tolist())
    assert scores["pearson"] == pytest.approx(
        scipy_pearson(gold, np.clip(predicted, 0, 4)), abs=1e-9
    )
    assert scores["pearson_raw"] == pytest.approx(scipy_pearson(gold, predicted), abs=1e-9)
    assert list(scores) == ["pearson", "pearson_raw", "constant"]
    assert all(type(value) is float for value in scores.values())


@settings(max_examples=60, deadline=None)
@given(score_pairs, st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
def test_raw_does_not_depend_on_scale_and_shift(
    pairs: list[tuple[float, float]], scale: float, shift: float
) -> None:
    gold, predicted = np.array(pairs).T
    moved = scale * predicted + shift
    assume(np.ptp(moved) > 1e-4 * np.abs(moved).max())  # far from where a spread passes for noise
    expected = pearson(gold.tolist(), predicted.tolist())["pearson_raw"]
    assert pearson(gold.tolist(), moved.tolist())["pearson_raw"] == pytest.approx(
        expected, abs=1e-6
    )


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 2), min_size=2, max_size=10
    )
)
def test_any_finite_input_gives_a_correlation(pairs: list[tuple[float, float]]) -> None:
    gold, predicted = zip(*pairs, strict=True)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        scores = pearson(gold, predicted)
    assert -1.0 <= scores["pearson"] <= 1.0
    assert -1.0 <= scores["pearson_raw"] <= 1.0


def test_huge_and_tiny_scores() -> None:
    """Squares would overflow, or vanish."""
    assert pearson([0.0, 1.0, 2.0], [-1e308, 0.0, 1e308])["pearson_raw"] == pytest.approx(1.0)
    assert pearson([0.0, 1.0, 2.0], [0.0, 5e-324, 1e-323])["pearson_raw"] == pytest.approx(1.0)


def test_clipping() -> None:
    scores = pearson([0.0, 2.0, 4.0], [0.0, 2.0, 7.0])
    assert scores["pearson"] == pytest.approx(1.0)
    assert scores["pearson_raw"] == pytest.approx(pearsonr([0, 2, 4], [0, 2, 7]).statistic)
    wide = pearson([0.0, 2.0, 4.0], [0.0, 2.0, 7.0], low=-10.0, high=10.0)
    assert wide["pearson"] == wide["pearson_raw"]


@pytest.mark.parametrize(
    "predicted",
    [
        [2.0] * 4,
        [0.0] * 4,
        np.float32(2.013)
        + np.array([0, 1, 2, -1], dtype=np.float32) * np.spacing(np.float32(2.013)),
        np.array([1, 1 + 1e-12, 1 - 1e-12, 1]),
    ],
)
def test_constant_prediction_is_flagged(predicted: list[float]) -> None:
    """Float32 noise too: scipy would report a correlation of its rounding errors."""
    assert pearson([0.0, 1.0, 2.0, 4.0], predicted) == {
        "pearson": 0.0,
        "pearson_raw": 0.0,
        "constant": 1.0,
    }


def test_constant_only_after_clipping() -> None:
    scores = pearson([0.0, 2.0, 4.0], [5.0, 6.0, 7.0])
    assert (scores["pearson"], scores["constant"]) == (0.0, 1.0)
    assert scores["pearson_raw"] == pytest.approx(1.0)


def test_a_small_spread_is_not_noise() -> None:
    scores = pearson([0.0, 1.0, 2.0], [2.0, 2.0 + 10 * NOISE, 2.0 + 20 * NOISE])
    assert scores["pearson"] == pytest.approx(1.0)
    assert scores["constant"] == 0.0


def test_constant_gold_is_zero_and_no_fault_of_the_prediction() -> None:
    assert pearson([2.0, 2.0, 2.0], [0.0, 1.0, 2.0]) == {
        "pearson": 0.0,
        "pearson_raw": 0.0,
        "constant": 0.0,
    }


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_scores_must_be_finite(bad: float) -> None:
    with pytest.raises(ValueError, match=r"predicted score 1 \(counting from 0\) is"):
        pearson([0.0, 1.0], [0.0, bad])
    with pytest.raises(ValueError, match=r"gold score 0 \(counting from 0\) is"):
        pearson([bad, 1.0], [0.0, 1.0])


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match="gold has 3 scores, predicted has 2: score 2"):
        pearson([0.0, 1.0, 2.0], [0.0, 1.0])
    with pytest.raises(ValueError, match="at least two pairs \\(got 1"):
        pearson([0.0], [0.0])
    with pytest.raises(ValueError, match="at least two pairs \\(got 0"):
        pearson([], [])
    with pytest.raises(ValueError, match=r"predicted has the shape \(2, 1\)"):
        pearson([0.0, 1.0], np.array([[0.0], [1.0]]))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"low must be below high \(got low=4\.0, high=0\.0"):
        pearson([0.0, 1.0], [0.0, 1.0], low=4.0, high=0.0)
