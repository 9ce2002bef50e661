"""Pearson's correlation of predicted and gold scores. (BIOSSES.)"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from blurb.metrics._metric import Counts, Metric, Scores, check_pairs

Vector = NDArray[np.float64]

# Predictions this close to each other, relative to the largest, are one number: those of a model that has collapsed
# differ in the last digits of float32 (eps 1.2e-7) from batch to batch, and would be correlated by rounding errors.
NOISE = 1e-6


def is_constant(values: Vector) -> bool:
    """Whether values (examples,) are all equal up to rounding (`NOISE`)."""
    magnitude = np.abs(values).max()
    return bool(magnitude == 0 or np.ptp(values / magnitude) <= NOISE)


def _standardise_values(values: Vector) -> Vector:
    """Values centred and scaled to length 1, (examples,). Scaled before each step to avoid over- and underflow."""
    scaled = values / np.abs(values).max()
    centred = scaled - scaled.mean()
    centred /= np.abs(centred).max()
    return np.asarray(centred / np.linalg.norm(centred))


def _correlation(gold: Vector, predicted: Vector) -> float:
    if is_constant(gold) or is_constant(predicted):
        return 0.0
    return float(np.clip(_standardise_values(gold) @ _standardise_values(predicted), -1.0, 1.0))


def _as_vector(values: Sequence[float], side: str) -> Vector:
    vector = np.asarray(values, dtype=np.float64)  # (units,)
    if vector.ndim != 1:
        raise ValueError(
            f"{side} has the shape {vector.shape}. Pass one score per pair, as a flat sequence."
        )
    bad = np.flatnonzero(~np.isfinite(vector))
    if bad.size:
        raise ValueError(
            f"{side} score {bad[0]} (counting from 0) is {vector[bad[0]]}. Pass finite scores only."
        )
    return vector


def pearson(
    gold: Sequence[float], predicted: Sequence[float], *, low: float = 0.0, high: float = 4.0
) -> dict[str, float]:
    """Pearson's r between the gold scores and the predicted scores clipped to [low, high].

    Args:
        gold, predicted: one score per sentence pair, (examples,).
        low, high: the bounds of the scale, to which predictions are clipped. Gold scores are not clipped.

    Returns:
        `pearson`, in [-1, 1]; `pearson_raw`, the same without clipping; `constant`, 1.0 if the clipped predictions are
        all equal up to rounding and 0.0 if not. If either side is constant, r is undefined and reported as 0.0.

    Raises:
        ValueError: if the lengths differ, there are fewer than two pairs, a score is not finite (the message has its
            index), a sequence is nested, or `low` is not below `high`.

    Example: the prediction 7.0 is outside the scale and counts as 4.0.

    >>> scores = pearson([0.0, 2.0, 4.0], [0.0, 2.0, 7.0])
    >>> round(scores["pearson"], 4), round(scores["pearson_raw"], 4), scores["constant"]
    (1.0, 0.9707, 0.0)
    >>> pearson([0.0, 2.0, 4.0], [5.0, 6.0, 7.0])["constant"]  # all become 4.0
    1.0

    Source: Gu et al. section 2.3 for Pearson; the bounds are those of the BLURB submission schema
    (docs/benchmark.md, "BIOSSES").
    """
    check_pairs(gold, predicted, "score")
    gold_scores, predicted_scores = _as_vector(gold, "gold"), _as_vector(predicted, "predicted")
    if len(gold_scores) < 2:
        raise ValueError(f"A correlation needs at least two pairs (got {len(gold_scores)}).")
    if not low < high:
        raise ValueError(f"low must be below high (got low={low}, high={high}).")
    clipped = np.clip(predicted_scores, low, high)
    return {
        "pearson": _correlation(gold_scores, clipped),
        "pearson_raw": _correlation(gold_scores, predicted_scores),
        "constant": float(is_constant(clipped)),
    }


def _moments(
    gold: Sequence[float], predicted: Sequence[float], low: float = 0.0, high: float = 4.0
) -> Counts:
    """1, x, y, xx, yy, xy around the means of gold and predictions, where sums are most precise; and their distance.

    Values that the metric treats as constant have deviations of exactly 0 here, without rounding errors.
    """
    check_pairs(gold, predicted, "pair")
    x, middle = _centre_values(np.asarray(gold, dtype=np.float64))
    y, centre = _centre_values(np.clip(np.asarray(predicted, dtype=np.float64), low, high))
    return np.stack(
        [np.ones(len(x)), x, y, x * x, y * y, x * y, np.full(len(x), centre - middle)], 1
    )


def _centre_values(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    centre = float(values.mean())
    return (np.zeros_like(values) if is_constant(values) else values - centre), centre


def _distance(counts: Counts) -> Scores:
    """Distance of prediction and gold, each around its own mean."""
    return np.abs(counts[:, 1] - counts[:, 2] - counts[:, 6])


def _around_one_mean(first: Counts, second: Counts) -> Counts:
    """The moments of the second run around the mean of the first run's predictions."""
    n, x, y, xx, yy, xy, apart = second.T
    move = (apart - first[:, 6]) / np.maximum(n, 1)
    return np.stack(
        [n, x, y + move * n, xx, yy + 2 * move * y + move**2 * n, xy + move * x, first[:, 6]], 1
    )


def _scores_from_moments(sums: Counts) -> Scores:
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)[:6]
    covariance = n * xy - x * y
    spreads = [n * square - mean * mean for square, mean in ((xx, x), (yy, y))]
    # A resample of one unit over and over leaves rounding errors of the squares behind.
    fine = (spreads[0] > 1e-12 * n * xx) & (spreads[1] > 1e-12 * n * yy)
    root = np.sqrt(np.where(fine, spreads[0] * spreads[1], 1))
    found: Scores = np.divide(covariance, root, out=np.zeros_like(x), where=fine)
    return found


METRIC = Metric(
    pearson,
    main="pearson",
    hub="pearsonr",
    counts=_moments,
    score=_scores_from_moments,
    mistakes=_distance,
    aligned=_around_one_mean,
    dtype="float64",
    tallies=frozenset({"constant"}),
    correlation=True,
)
