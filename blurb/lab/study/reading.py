"""What a study shows, in sentences: what was separated from the noise of pretrainings, and what it would take."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from blurb.lab.study.examples import Units
from blurb.messages.text import probability
from blurb.results.comparison import ScoreComparison, compare_rows
from blurb.results.row_scores import RowScores
from blurb.statistics.holm import holm
from blurb.statistics.planning import MOST, runs_needed
from blurb.statistics.welch import compare
from blurb.tasks import known

LEVEL = 0.05
SEEN = 2.80
"""Standard errors of a difference that a two-sided test at 5 % tells four times in five: 1.96 + 0.84."""


@dataclass(frozen=True)
class Difference:
    """A variant minus the reference on a dataset.

    :param of_examples: variance of the difference over test examples, which no number of pretrainings makes smaller
    """

    line: ScoreComparison
    of_examples: float = 0.0


def compared(rows: Mapping[str, RowScores], reference: str, units: Units | None = None) -> dict[str, list[Difference]]:
    """Each variant minus the reference, dataset by dataset.

    :param units: what the choice of test examples adds to the variance; None leaves it out
    """
    there: dict[str, list[Difference]] = {}
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
        there[name] = [Difference(line, added.get(line.name, (0.0, 0))[0]) for line in own]
    return there


def reading(
    rows: Mapping[str, RowScores], reference: str, differences: Mapping[str, Sequence[Difference]]
) -> Iterator[str]:
    """A sentence for each variant and dataset: its scores minus those of the reference.

    With one pretraining on a side there is no test: the sentence is on these checkpoints.

    :param differences: of `compared`
    """
    for name, own in differences.items():
        for each in own:
            sentence = _sentence(each.line, rows[name], rows[reference], each.of_examples)
            yield f"{each.line.name}: {name} minus {reference}: {sentence}"


def _if_several(line: ScoreComparison, first: RowScores, other: RowScores) -> ScoreComparison:
    """The line, without a test where either side has one pretraining: how much its recipe varies is then unknown.

    Variants need not vary alike: random weights that were never trained have no variation of pretraining at all.
    """
    own, others = first.values(line.name), other.values(line.name)
    if min(len(own), len(others)) > 1:
        return line
    return replace(line, p=None, comparison=compare([statistics.fmean(own)], [statistics.fmean(others)]))


def _with_examples(
    lines: list[ScoreComparison], first: RowScores, other: RowScores, added: Mapping[str, tuple[float, int]]
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


def _sentence(line: ScoreComparison, first: RowScores, other: RowScores, of_examples: float) -> str:
    difference = f"{line.difference:+.2f}"
    if line.p is None or line.interval is None:
        why = line.reason or "one pretraining says nothing of others"
        return f"{difference}; of these checkpoints alone ({why})."
    half = (line.interval[1] - line.interval[0]) / 2
    text = f"{difference} ± {half:.2f}, p {probability(line.p)} (corrected over the datasets)"
    if line.p < LEVEL:
        return f"{text}: separated."
    several = [values for row in (first, other) if len(values := row.values(line.name)) > 1]
    deviation = statistics.fmean(map(statistics.variance, several)) ** 0.5
    return f"{text}: not separated; {_needed(line.difference or 0.0, deviation, of_examples)}."


def _needed(difference: float, deviation: float, of_examples: float) -> str:
    """What would separate a difference as large as the one seen, before the correction over the datasets.

    :param of_examples: variance of the difference over test examples, which no number of pretrainings makes smaller
    """
    count = runs_needed(difference, deviation)
    if of_examples:
        # 2.8 standard errors are seen four times in five: error^2 = 2 deviation^2 / runs + that of the examples.
        left = (difference / SEEN) ** 2 - of_examples
        if left <= 0:
            return "no number of pretrainings would, as the test examples are too few for a difference this small"
        more = math.ceil(2 * deviation**2 / left)
        count = None if count is None or more > MOST else max(count, more)
    if count is None:
        return f"more than {MOST} pretrainings a side would, if the difference is as large as it looks"
    return f"about {count} pretrainings a side would, if the difference is as large as it looks"
