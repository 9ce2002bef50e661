"""Does a cheap protocol order encoders as the reference does? Scores in, figures out."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from blurb.statistics.welch import holm

Scores = Mapping[str, Sequence[float]]
"""Encoder -> the score of every seed."""
LEVEL = 0.05
DRAWS = 2_000


@dataclass(frozen=True)
class Agreement:
    """How a protocol stands to the reference on one dataset, or on several together.

    :param separated: pairs of encoders that the reference separates (Welch's test, two-sided, at 5 %, each by itself)
    :param right: of these, those whose order the protocol's means repeat; equal means are wrong
    :param holm: pairs that it separates with p corrected over all pairs (Holm), as `blurb compare` corrects
    :param holm_right: of these, those whose order the protocol's means repeat
    :param tau: Kendall's tau-b between the two lists of means
    :param low: with `high` the 95 % bootstrap interval of tau: encoders are drawn, and the seeds of each
    """

    separated: int
    right: int
    holm: int
    holm_right: int
    tau: float
    low: float
    high: float


def separated(reference: Scores, corrected: bool = False) -> list[tuple[str, str]]:
    """Pairs (better, worse) that the runs of the reference tell apart.

    :param corrected: p over all pairs of the dataset, by Holm
    """
    pairs = []
    for one, other in itertools.combinations(sorted(reference), 2):
        better, worse = sorted((one, other), key=lambda name: -statistics.fmean(reference[name]))
        pairs.append((better, worse))
    p: Sequence[float | None] = [_p(reference[better], reference[worse]) for better, worse in pairs]
    if corrected:
        p = holm(p)
    return [
        pair for pair, value in zip(pairs, p, strict=True) if value is not None and value < LEVEL
    ]


def _p(one: Sequence[float], other: Sequence[float]) -> float:
    if len(one) < 2 or len(other) < 2:
        return 1.0
    if len({*one}) == len({*other}) == 1:  # no spread at all: Welch's test divides by it
        return float(one[0] == other[0])
    return float(stats.ttest_ind(one, other, equal_var=False).pvalue)


def agreement(reference: Scores, cheap: Scores, seed: int = 0) -> Agreement:
    """Of the encoders that both have; ValueError for fewer than three."""
    names = sorted(reference.keys() & cheap.keys())
    if len(names) < 3:
        raise ValueError(f"three encoders are needed, and both have {len(names)}.")
    reference, cheap = ({name: scores[name] for name in names} for scores in (reference, cheap))
    pairs = separated(reference)
    strict = separated(reference, corrected=True)
    low, high = _interval(reference, cheap, seed)
    return Agreement(
        len(pairs),
        _right(pairs, cheap),
        len(strict),
        _right(strict, cheap),
        tau(reference, cheap),
        low,
        high,
    )


def _right(pairs: Sequence[tuple[str, str]], cheap: Scores) -> int:
    return sum(
        statistics.fmean(cheap[better]) > statistics.fmean(cheap[worse]) for better, worse in pairs
    )


def tau(one: Scores, other: Scores) -> float:
    """Kendall's tau-b between the means of encoders that both have; NaN where all of one are equal."""
    names = sorted(one.keys() & other.keys())
    means = [[statistics.fmean(scores[name]) for name in names] for scores in (one, other)]
    return float(stats.kendalltau(*means).statistic)


def _interval(reference: Scores, cheap: Scores, seed: int) -> tuple[float, float]:
    random = np.random.default_rng(seed)
    names = sorted(reference)
    found = []
    for _ in range(DRAWS):
        drawn = random.choice(len(names), len(names))
        pair = [
            [float(np.mean(random.choice(scores[names[i]], len(scores[names[i]])))) for i in drawn]
            for scores in (reference, cheap)
        ]
        value = float(stats.kendalltau(*pair).statistic)
        if not math.isnan(value):
            found.append(value)
    return (float("nan"),) * 2 if not found else tuple(np.quantile(found, [0.025, 0.975]).tolist())  # type: ignore[return-value]


def split_tau(reference: Scores) -> float:
    """The reference against itself: the mean of tau between one seed and the mean of the others, over all seeds."""
    seeds = min(map(len, reference.values()))
    if seeds < 2:
        return float("nan")
    found = [
        tau(
            {name: [runs[left]] for name, runs in reference.items()},
            {
                name: [run for place, run in enumerate(runs) if place != left]
                for name, runs in reference.items()
            },
        )
        for left in range(seeds)
    ]
    return statistics.fmean(found)


def run_sd(scores: Scores) -> float:
    """Pooled standard deviation of the runs of one encoder; NaN where all have one run."""
    spread = [
        (statistics.variance(runs), len(runs) - 1) for runs in scores.values() if len(runs) > 1
    ]
    return (
        math.sqrt(sum(v * n for v, n in spread) / sum(n for _, n in spread))
        if spread
        else float("nan")
    )
