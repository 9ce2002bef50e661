"""Oracle: scipy.stats.pearsonr."""

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


@settings(max_examples=80)
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


@settings(max_examples=60)
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


@settings(max_examples=80)
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
    ("gold", "predicted", "constant"),
    [
        ([0.0, 1.0, 2.0, 4.0], [2.0] * 4, 1.0),
        ([0.0, 1.0, 2.0, 4.0], [0.0] * 4, 1.0),
        (
            [0.0, 1.0, 2.0, 4.0],
            np.float32(2.013)
            + np.array([0, 1, 2, -1], dtype=np.float32) * np.spacing(np.float32(2.013)),
            1.0,
        ),
        ([0.0, 1.0, 2.0, 4.0], np.array([1, 1 + 1e-12, 1 - 1e-12, 1]), 1.0),
        ([2.0, 2.0, 2.0], [0.0, 1.0, 2.0], 0.0),  # no fault of the prediction
    ],
)
def test_what_is_constant_correlates_with_nothing(
    gold: list[float], predicted: list[float], constant: float
) -> None:
    """Float32 noise too: scipy would report a correlation of its rounding errors."""
    assert pearson(gold, predicted) == {"pearson": 0.0, "pearson_raw": 0.0, "constant": constant}


def test_constant_only_after_clipping() -> None:
    scores = pearson([0.0, 2.0, 4.0], [5.0, 6.0, 7.0])
    assert (scores["pearson"], scores["constant"]) == (0.0, 1.0)
    assert scores["pearson_raw"] == pytest.approx(1.0)


def test_a_small_spread_is_not_noise() -> None:
    scores = pearson([0.0, 1.0, 2.0], [2.0, 2.0 + 10 * NOISE, 2.0 + 20 * NOISE])
    assert scores["pearson"] == pytest.approx(1.0)
    assert scores["constant"] == 0.0


@pytest.mark.parametrize(
    ("gold", "predicted", "options", "told"),
    [
        *(
            ([0.0, 1.0], [0.0, bad], {}, r"predicted score 1 \(counting from 0\) is")
            for bad in (math.nan, math.inf, -math.inf)
        ),
        *(
            ([bad, 1.0], [0.0, 1.0], {}, r"gold score 0 \(counting from 0\) is")
            for bad in (math.nan, math.inf, -math.inf)
        ),
        ([0.0, 1.0, 2.0], [0.0, 1.0], {}, "gold has 3 scores, predicted has 2: score 2"),
        ([0.0], [0.0], {}, r"at least two pairs \(got 1"),
        ([], [], {}, r"at least two pairs \(got 0"),
        ([0.0, 1.0], np.array([[0.0], [1.0]]), {}, r"predicted has the shape \(2, 1\)"),
        (
            [0.0, 1.0],
            [0.0, 1.0],
            {"low": 4.0, "high": 0.0},
            r"low must be below high \(got low=4\.0, high=0\.0",
        ),
    ],
)
def test_what_are_no_scores_is_named(
    gold: list[float], predicted: list[float], options: dict[str, float], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        pearson(gold, predicted, **options)
