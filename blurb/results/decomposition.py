"""Where the difference of two scores comes from: its parts by task type and dataset, which add up to it exactly.

The score is a weighted mean of the datasets, S = sum over d of w_d s_d, so that a difference of two scores is

    S - S' = sum over d of w_d (s_d - s'_d)

and the part of a dataset is w_d (s_d - s'_d), in points of the score.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, TypedDict

from blurb import tasks
from blurb.grouping import by_key
from blurb.messages import format_signed
from blurb.records import From
from blurb.results.comparison import ScoreComparison
from blurb.results.score import SCORE, dataset_weights, weights_of_12

MEAN = "mean"
SMALL = 1_000
"""Test examples below which a dataset is called small; of BLURB's, GAD, BIOSSES, PubMedQA and BioASQ."""
MOST = 0.4
"""Share of the difference from which on a single small dataset is spoken of."""
LEAST = 0.1
"""Points of the score below which a difference has no shares: they would be quotients of rounding."""


class PartLine(TypedDict):
    """A part of the difference of two scores."""

    name: Annotated[str, "task type or dataset"]
    type: Annotated[str, "task type of a dataset; of a task type itself"]
    points: Annotated[float, "points of the score that it adds to the difference"]
    low: Annotated[
        float | None, "95 % interval of these points; null if unknown", From("interval.0")
    ]
    high: Annotated[float | None, "its upper end", From("interval.1")]
    share: Annotated[
        float | None,
        "per cent of the difference; null for a difference below a tenth of a point",
        From(lambda part: None if part.share is None else 100 * part.share),
    ]


@dataclass(frozen=True)
class DifferencePart:
    """The contribution of a dataset or task type to the difference of two scores.

    :param weight: of the dataset in the score; the sum of these for a task type
    :param points: of the score
    :param interval: of these points, 95 %; None without runs
    :param share: of the whole difference
    """

    name: str
    type: str
    weight: float
    points: float
    interval: tuple[float, float] | None
    share: float | None


@dataclass(frozen=True)
class Decomposition:
    """The parts of the difference of two scores.

    :param of: `score`, `blurb-12` where BioASQ is missing, or `mean` of given weights
    :param total: the difference in points, the sum of the points of all datasets
    :param types: parts by task type
    :param datasets: parts by dataset
    """

    of: str
    total: float
    types: Sequence[DifferencePart]
    datasets: Sequence[DifferencePart]
    scores: Mapping[str, tuple[float, float]]

    @property
    def parts(self) -> list[DifferencePart]:
        """Each task type, followed by its datasets if it has several."""
        listed = []
        for kind in self.types:
            own = [part for part in self.datasets if part.type == kind.name]
            listed += [kind, *(own if len(own) > 1 else ())]
        return listed

    @property
    def sentences(self) -> list[str]:
        """A note on a small test set: its share, and the spread of its figure by chance alone."""
        return [sentence for part in self.datasets if (sentence := self._sentence(part))]

    def _sentence(self, part: DifferencePart) -> str:
        size = tasks.get(part.name).sizes.get("test", 0)
        if part.share is None or part.share < MOST or not 0 < size < SMALL:
            return ""
        text = (
            f"{part.name} with its {size} test examples carries {part.share:.0%} of the difference "
            f"({format_signed(part.points)} of {format_signed(self.total)})"
        )
        error = binomial_error(part.name, min(self.scores[part.name]))
        if error is None:
            return f"{text}."
        return f"{text}; the binomial standard error of one of its figures is {part.weight * error:.2f} points of it."


def binomial_error(dataset: str, score: float) -> float | None:
    """Standard error of an accuracy from the number of test examples, sqrt(p (1 - p) / n), in points.

    :param score: the accuracy, times 100
    :returns: None for other metrics, of which the predictions must be known

    >>> round(binomial_error("bioasq", 87.56), 1), binomial_error("gad", 83.96)
    (2.8, None)
    """
    task = tasks.get(dataset)
    if task.metric != "accuracy" or not task.sizes.get("test"):
        return None
    share = score / 100
    return 100 * math.sqrt(share * (1 - share) / task.sizes["test"])


def decompose_difference(
    lines: Sequence[ScoreComparison], weights: Mapping[str, float] | None = None
) -> Decomposition | None:
    """The parts of the difference of two rows; None unless both have all thirteen datasets, or all but BioASQ.

    :param lines: of `compare_rows`
    :param weights: dataset -> its weight in another mean than the score; then None unless both have all of these
    """
    by_name = {line.name: line for line in lines}
    known = {name for name, line in by_name.items() if line.difference is not None}
    means = (
        {SCORE: dataset_weights(), tasks.TWELVE: weights_of_12()}
        if weights is None
        else {MEAN: weights}
    )
    for of, shares in means.items():
        if set(shares) <= known:
            return _decompose_mean(of, shares, by_name)
    return None


def _decompose_mean(
    of: str, weights: Mapping[str, float], lines: Mapping[str, ScoreComparison]
) -> Decomposition:
    points = {name: weight * (lines[name].difference or 0.0) for name, weight in weights.items()}
    total = math.fsum(points.values())

    def part(name: str, kind: str, names: Sequence[str]) -> DifferencePart:
        weight, own = (
            math.fsum(weights[each] for each in names),
            math.fsum(points[each] for each in names),
        )
        # A part of a type's datasets has no line.
        line = lines[names[0]] if len(names) == 1 else lines.get(name)
        interval = None if line is None else line.interval
        ends = None if interval is None else (weight * interval[0], weight * interval[1])
        return DifferencePart(
            name, kind, weight, own, ends, None if abs(total) < LEAST else own / total
        )

    groups = by_key((tasks.get(name).type, name) for name in weights)
    return Decomposition(
        of,
        total,
        [part(kind, kind, names) for kind, names in groups.items()],
        [part(name, kind, [name]) for kind, names in groups.items() for name in names],
        {name: (lines[name].first or 0.0, lines[name].other or 0.0) for name in weights},
    )
