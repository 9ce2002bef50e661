"""The values of a curve over the steps of a run: what they measure, their trend, and the noise about it.

The noise comes from neighbours alone: each point beside the line through the two points next to it (Gasser, Sroka and
Jennen-Steinmetz 1986). So a trend, however long, adds next to nothing to it. The spread of all values of a curve, or of
several runs thrown together, holds the trend itself, and grows with what it is to be compared with.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from blurb.statistics.welch import LEVEL, t_critical

Floats = npt.NDArray[np.float64]
NEIGHBOURS = 5
"""Points of a window: two on each side, as far as there are; one `d` places away counts 1 / (1 + d^2) as much."""
DRAWS = 4_000
LOGARITHMIC = 0.01
"""A first gap below this part of the last step calls for a logarithmic axis."""
ROUNDING = 1e-9
"""Differences of values that are equal but for rounding."""
LEAST = 4
"""Points of a curve from which noise is told."""


LOWER = re.compile(
    r"(?<![a-z])(loss|bits|nats|nll|bpb|ppl|perplexity|entropy|error)(?![a-z])", re.IGNORECASE
)
"""Words in the name of a figure that is better the lower it is."""


class Measure(StrEnum):
    """The figures of each checkpoint.

    A score is times 100. The loss of a head on dev is continuous, so it tells checkpoints apart sooner. A figure is of
    the pretraining itself.
    """

    SCORE = "score"
    LOSS = "loss"
    FIGURE = "figure"

    @property
    def digits(self) -> int:
        """Digits after the point in sentences and tables of the page."""
        return 2 if self is Measure.SCORE else 3

    def direction(self, name: str) -> int | None:
        """1 if higher values are better, -1 if lower ones are; None for a figure whose name does not tell it.

        >>> [Measure.FIGURE.direction(name) for name in ("bits per byte", "eval_loss", "masked accuracy")]
        [-1, -1, None]

        :param name: of the dataset or figure
        """
        if self is Measure.SCORE:
            return 1
        return -1 if self is Measure.LOSS or LOWER.search(name) else None


@dataclass(frozen=True)
class Noise:
    """The standard deviation of the points of a curve about its trend.

    :param freedom: degrees of freedom of its square, which has about a chi-squared distribution (Satterthwaite)
    """

    deviation: float
    freedom: float


def needs_log_axis(*runs: Sequence[int]) -> bool:
    """Whether the steps of any run are spaced so unequally that a linear axis hides the first ones."""
    ordered = (sorted({step for step in steps if step > 0}) for steps in runs)
    return any(
        len(there) > 2 and there[1] - there[0] < LOGARITHMIC * there[-1] for there in ordered
    )


def axis_places(steps: Sequence[float], logarithmic: bool) -> Floats:
    """Where steps stand on their axis; on a logarithmic one, step 0 is half of the first that is not."""
    there = np.asarray(steps, dtype=np.float64)
    if not logarithmic:
        return there
    return np.log(np.maximum(there, min((step for step in steps if step > 0), default=1.0) / 2))


def noise(curves: Sequence[tuple[Floats, Floats]]) -> Noise | None:
    """The noise within curves, pooled over them; None if no curve has `LEAST` points.

    :param curves: places and values of each, ordered by place; only differences within a curve count
    """
    total = rank = square = 0.0
    for where, values in curves:
        if len(values) < LEAST:
            continue
        beside = _distance_to_neighbours(where)
        total += float(np.sum((beside @ values) ** 2))
        # Its trace and that of its square give mean and variance of the squares.
        form = beside @ beside.T
        rank += float(np.trace(form))
        square += float(np.sum(form**2))
    return Noise(math.sqrt(total / rank), rank**2 / square) if rank else None


def _distance_to_neighbours(where: Floats) -> Floats:
    """(n - 2, n): each inner point minus the line through its neighbours, of the variance of a single point."""
    rows = np.zeros((len(where) - 2, len(where)))
    for row in range(len(rows)):
        left, middle, right = where[row : row + 3]
        share = (right - middle) / (right - left)
        rows[row, row : row + 3] = np.array([share, -1.0, 1 - share]) / math.sqrt(
            share**2 + 1 + (1 - share) ** 2
        )
    return rows


def smoother(where: Floats) -> Floats:
    """(n, n): weights that give the trend at each place, by a line of weighted least squares in its window."""
    count = len(where)
    width = min(NEIGHBOURS, count)
    rows = np.zeros((count, count))
    for row in range(count):
        start = min(max(0, row - width // 2), count - width)
        window = slice(start, start + width)
        design = np.vander(where[window] - where[row], min(2, width), increasing=True)
        root = np.sqrt(1 / (1 + (np.arange(start, start + width) - row) ** 2))
        rows[row, window] = (np.linalg.pinv(design * root[:, None]) * root)[0]
    return rows


@dataclass(frozen=True)
class Peak:
    """Where a trend is highest.

    :param place: its number
    :param value: of the trend there
    :param half: half of the 95 % interval of that value; None where the noise is unknown
    :param alike: numbers of the places whose trend is not told from it
    :param gain: what the highest single value of as many equal places would seem to gain
    :param trend_gain: the same of the highest value of the trend
    """

    place: int
    value: float
    half: float | None
    alike: tuple[int, ...]
    gain: float | None
    trend_gain: float | None


def best(where: Floats, values: Floats, pooled: Noise | None) -> Peak:
    """The highest place of the trend, with what the choice of a maximum gains if nothing changes at all."""
    weights = smoother(where)
    trend = weights @ values
    top = int(np.flatnonzero(trend >= trend.max() - ROUNDING)[0])
    if pooled is None:
        return Peak(top, float(trend[top]), None, tuple(range(len(values))), None, None)
    width = t_critical(pooled.freedom) * pooled.deviation
    errors = np.linalg.norm(weights[top] - weights, axis=1)
    alike = tuple(
        int(place) for place in np.flatnonzero(trend[top] - trend <= width * errors + ROUNDING)
    )
    draws = np.random.default_rng(0).standard_normal((DRAWS, len(values)))
    half = float(width * np.linalg.norm(weights[top]))
    raw, smooth = draws.max(axis=1).mean(), (draws @ weights.T).max(axis=1).mean()
    return Peak(
        top,
        float(trend[top]),
        half,
        alike,
        float(raw * pooled.deviation),
        float(smooth * pooled.deviation),
    )


def signal_to_noise(curves: Sequence[tuple[Floats, Floats]], pooled: Noise | None) -> float | None:
    """The range of the trend, as a mean over curves, in standard deviations of the noise within them.

    None where the noise is unknown; infinite for a trend without noise.
    """
    if pooled is None:
        return None
    ranges = [np.ptp(smoother(where) @ values) for where, values in curves if len(where) >= LEAST]
    mean = float(np.mean(ranges))
    if mean <= ROUNDING:
        return 0.0
    return mean / pooled.deviation if pooled.deviation > ROUNDING else math.inf


def ratio_by_chance(curves: Sequence[tuple[Floats, Floats]], pooled: Noise | None) -> float | None:
    """The signal-to-noise ratio that curves without any trend exceed in a twentieth of cases.

    They are drawn (`DRAWS` times, with one seed), with the noise itself drawn from its distribution.
    """
    if pooled is None:
        return None
    generator = np.random.default_rng(0)
    ranges = [
        np.ptp(generator.standard_normal((DRAWS, len(where))) @ smoother(where).T, axis=1)
        for where, _ in curves
        if len(where) >= LEAST
    ]
    estimated = np.sqrt(generator.chisquare(pooled.freedom, DRAWS) / pooled.freedom)
    return float(np.quantile(np.mean(ranges, axis=0) / estimated, 1 - LEVEL))


def fall_by_chance(curves: Sequence[tuple[Floats, Floats]], level: float = 0.05) -> float:
    """The fall between two neighbours, in deviations of the noise, that noise alone exceeds anywhere at this level.

    Drawn as a whole, noise included: a fall is among the differences that the noise is estimated from, so quantiles of
    Student's t would be far too high. At least one curve has `LEAST` points.
    """
    generator = np.random.default_rng(0)
    total, rank = np.zeros(5 * DRAWS), 0.0
    largest = np.full(5 * DRAWS, -np.inf)
    for where in (where for where, _ in curves if len(where) >= LEAST):
        drawn = generator.standard_normal((5 * DRAWS, len(where)))
        beside = _distance_to_neighbours(where)
        total += np.sum((drawn @ beside.T) ** 2, axis=1)
        rank += float(np.trace(beside @ beside.T))
        largest = np.maximum(largest, np.max(drawn[:, :-1] - drawn[:, 1:], axis=1))
    return float(np.quantile(largest / np.sqrt(total / rank), 1 - level))
