"""Study results in sentences: what was separated from the noise of pretrainings, and what it would take.

Pretrainings and test examples are crossed, as in the Multi-Bootstrap (Sellam et al. 2022, MultiBERTs), which resamples
both. Here examples are resampled, and the part of the pretrainings has the variance between them, as three drawn with
replacement vary too little (`blurb.statistics.bootstrap`).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from statistics import NormalDist

from blurb.extensions.lab.study import parts
from blurb.extensions.lab.study.spec import Study
from blurb.messages import format_p
from blurb.results.comparison import ScoreComparison, compare_rows
from blurb.results.predictions import shared_clusters
from blurb.results.row import Row
from blurb.row_files.scores import examples_of
from blurb.statistics.bootstrap import Clusters, difference_variance
from blurb.statistics.pooled import MOST, POWER, runs_needed
from blurb.statistics.welch import LEVEL, holm, welch_test
from blurb.tasks import known_task

Units = Callable[[str, str, str], tuple[float, int]]
"""A variant, another and a dataset -> variance of the difference over test examples, and their number."""


def unit_variances(out: Path, study: Study, data: Path) -> Units:
    """The variance of a difference from the choice of test examples, by the predictions of the parts.

    :param data: data folder with the gold answers
    :raises DataError: (when called) if the predictions are not those of the examples
    """

    clusters = cache(partial(_clusters, out, study, data))

    def variance(first: str, other: str, dataset: str) -> tuple[float, int]:
        own, others = clusters(first, dataset), clusters(other, dataset)
        if own is None or others is None or own.names != others.names:
            return 0.0, 0
        return difference_variance(own, others, dataset), len(own.names)

    return variance


def _clusters(out: Path, study: Study, data: Path, name: str, dataset: str) -> Clusters | None:
    """The examples of all pretrainings of a variant; None if these scored different ones."""
    alone = replace(study, variants=[one for one in study.variants if one.name == name])
    runs = [
        examples_of(row, run, "test", data)
        for *_, row in parts.filed_rows(out, alone, study.protocols[0])
        for run in row.about["runs"]
        if run["task"] == dataset
    ]
    return shared_clusters(runs) if runs else None


@dataclass(frozen=True)
class VariantDifference:
    """A variant minus the reference on a dataset.

    :param values: scores of the variant and of the reference, a pretraining each
    :param of_examples: variance of the difference over test examples, which no number of pretrainings makes smaller
    :param tests: datasets over which p is corrected
    """

    line: ScoreComparison
    values: tuple[Sequence[float], Sequence[float]]
    of_examples: float = 0.0
    tests: int = 1

    @property
    def half(self) -> float | None:
        """Half of the 95 % interval; None without a test."""
        if self.line.p is None or self.line.interval is None:
            return None
        low, high = self.line.interval
        return (high - low) / 2

    @property
    def verdict(self) -> str:
        """Whether it is separated from noise, and what it would take."""
        if self.line.p is None or self.half is None:
            return f"of these checkpoints alone ({self.line.reason or 'one pretraining says nothing of others'})"
        if self.line.p < LEVEL:
            return "separated"
        deviation = (
            statistics.fmean(statistics.variance(own) for own in self.values if len(own) > 1) ** 0.5
        )
        count = needed(
            self.line.difference or 0.0,
            deviation,
            self.of_examples,
            self.tests,
            there=min(map(len, self.values)),
        )
        return f"not separated; {count}"

    def __str__(self) -> str:
        text = f"{self.line.difference:+.2f}"
        if self.half is None:
            return f"{text}; {self.verdict}."
        return f"{text} ± {self.half:.2f}, p {format_p(self.line.p)} (corrected over the datasets): {self.verdict}."


def compared(
    rows: Mapping[str, Row], reference: str, units: Units | None = None
) -> dict[str, list[VariantDifference]]:
    """Each variant minus the reference, dataset by dataset.

    :param units: what the choice of test examples adds to the variance; None leaves it out
    """
    present: dict[str, list[VariantDifference]] = {}
    for name, row in rows.items():
        if name == reference:
            continue
        own: list[VariantDifference] = []
        for line in compare_rows(row, rows[reference], "test", with_units=False):
            if known_task(line.name) is None or line.difference is None:
                continue
            values, added = (row.values(line.name), rows[reference].values(line.name)), (0.0, 0)
            if min(map(len, values)) == 1:
                # One pretraining does not say how much its recipe varies, and variants need not vary alike: random
                # weights that were never trained have no variation of pretraining at all.
                means = [[statistics.fmean(side)] for side in values]
                line = replace(line, p=None, comparison=welch_test(means[0], means[1]))
            elif units is not None and line.p is not None:
                added = units(name, reference, line.name)
                line = replace(line, comparison=welch_test(*values, *added))
            own.append(VariantDifference(line, values, added[0]))
        # With the variance over test examples p is corrected anew.
        corrected = holm([None if each.line.p is None else each.line.comparison.p for each in own])
        tests = sum(p is not None for p in corrected)
        present[name] = [
            replace(each, line=replace(each.line, p=p), tests=tests)
            for each, p in zip(own, corrected, strict=True)
        ]
    return present


def reading(reference: str, differences: Mapping[str, Sequence[VariantDifference]]) -> list[str]:
    """A sentence for each variant and dataset: its scores minus those of the reference.

    With one pretraining on a side there is no test: the sentence is on these checkpoints.

    :param differences: of `compared`
    """
    return [
        f"{each.line.name}: {name} minus {reference}: {each}"
        for name, own in differences.items()
        for each in own
    ]


def needed(
    difference: float, deviation: float, of_examples: float = 0.0, tests: int = 1, there: int = 1
) -> str:
    """The seeds that separate a difference as large as the one seen, four times in five.

    The level is divided by the number of tests, which is a little stricter than Holm's rule.

    :param deviation: of scores between pretrainings
    :param of_examples: variance of the difference over test examples, which no number of pretrainings makes smaller
    :param there: pretrainings a side that did not separate it
    """
    level = LEVEL / tests
    count = runs_needed(difference, deviation, level)
    if of_examples:
        # So many standard errors are seen four times in five; error^2 = 2 deviation^2 / runs + that of the examples.
        seen = NormalDist().inv_cdf(1 - level / 2) + NormalDist().inv_cdf(POWER)
        left = (difference / seen) ** 2 - of_examples
        if left <= 0:
            return "no number of pretrainings would separate them: too few test examples"
        more = math.ceil(2 * deviation**2 / left)
        count = None if count is None or more > MOST else max(count, more)
    if count is None:
        return f"more than {MOST} pretrainings a side would separate them"
    return f"about {max(count, there + 1)} pretrainings a side would separate them"
