"""What a study shows, in sentences: what was separated from the noise of pretrainings, and what it would take."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from blurb.extensions.lab.study.examples import Units
from blurb.messages.text import probability
from blurb.results.comparison import ScoreComparison, compare_rows
from blurb.results.row import Row
from blurb.statistics.holm import holm
from blurb.statistics.planning import MOST, POWER, runs_needed
from blurb.statistics.welch import LEVEL, compare
from blurb.tasks import known


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
        known = self.line.interval if self.line.p is not None else None
        return None if known is None else (known[1] - known[0]) / 2

    @property
    def verdict(self) -> str:
        """Whether it is separated from noise, and what it would take."""
        if self.line.p is None or self.half is None:
            why = self.line.reason or "one pretraining says nothing of others"
            return f"of these checkpoints alone ({why})"
        if self.line.p < LEVEL:
            return "separated"
        deviation = statistics.fmean(statistics.variance(own) for own in self.values if len(own) > 1) ** 0.5
        there = min(map(len, self.values))
        return f"not separated; {needed(self.line.difference or 0.0, deviation, self.of_examples, self.tests, there)}"

    def __str__(self) -> str:
        text = f"{self.line.difference:+.2f}"
        if self.line.p is None or self.half is None:
            return f"{text}; {self.verdict}."
        return f"{text} ± {self.half:.2f}, p {probability(self.line.p)} (corrected over the datasets): {self.verdict}."


def compared(rows: Mapping[str, Row], reference: str, units: Units | None = None) -> dict[str, list[VariantDifference]]:
    """Each variant minus the reference, dataset by dataset.

    :param units: what the choice of test examples adds to the variance; None leaves it out
    """
    there: dict[str, list[VariantDifference]] = {}
    for name, row in rows.items():
        if name == reference:
            continue
        lines = compare_rows(row, rows[reference], "test", with_units=False)
        own = [
            _if_several(line, row, rows[reference])
            for line in lines
            if known(line.name) is not None and line.difference is not None
        ]
        added = {}
        if units is not None:
            added = {line.name: units(name, reference, line.name) for line in own if line.p is not None}
        own = _with_examples(own, row, rows[reference], added)
        tests = sum(line.p is not None for line in own)
        there[name] = [
            VariantDifference(
                line,
                (row.values(line.name), rows[reference].values(line.name)),
                added.get(line.name, (0.0, 0))[0],
                tests,
            )
            for line in own
        ]
    return there


def reading(reference: str, differences: Mapping[str, Sequence[VariantDifference]]) -> Iterator[str]:
    """A sentence for each variant and dataset: its scores minus those of the reference.

    With one pretraining on a side there is no test: the sentence is on these checkpoints.

    :param differences: of `compared`
    """
    for name, own in differences.items():
        for each in own:
            yield f"{each.line.name}: {name} minus {reference}: {each}"


def _if_several(line: ScoreComparison, first: Row, other: Row) -> ScoreComparison:
    """The line, without a test where either side has one pretraining: how much its recipe varies is then unknown.

    Variants need not vary alike: random weights that were never trained have no variation of pretraining at all.
    """
    own, others = first.values(line.name), other.values(line.name)
    if min(len(own), len(others)) > 1:
        return line
    return replace(line, p=None, comparison=compare([statistics.fmean(own)], [statistics.fmean(others)]))


def _with_examples(
    lines: list[ScoreComparison], first: Row, other: Row, added: Mapping[str, tuple[float, int]]
) -> list[ScoreComparison]:
    """The lines with the variance over test examples; p is corrected anew."""
    crossed = [
        replace(line, comparison=compare(first.values(line.name), other.values(line.name), *added[line.name]))
        if line.name in added
        else line
        for line in lines
    ]
    corrected = holm([line.comparison.p if line.p is not None else None for line in crossed])
    return [replace(line, p=p) for line, p in zip(crossed, corrected, strict=True)]


def needed(difference: float, deviation: float, of_examples: float = 0.0, tests: int = 1, there: int = 1) -> str:
    """What would separate a difference as large as the one seen, four times in five.

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
