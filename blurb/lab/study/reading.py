"""What a study shows, in sentences: what was separated from the noise of pretrainings, and what it would take."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import replace

from blurb.lab.study.examples import Units
from blurb.results.comparison import ScoreComparison, compare_rows
from blurb.results.row_scores import RowScores
from blurb.statistics.holm import holm
from blurb.statistics.planning import MOST, runs_needed
from blurb.statistics.welch import compare
from blurb.tasks import known

LEVEL = 0.05


def reading(rows: Mapping[str, RowScores], reference: str, units: Units | None = None) -> Iterator[str]:
    """A sentence for each variant and dataset: its scores minus those of the reference.

    With one pretraining a side there is no test: the sentence is on these two checkpoints.

    :param units: what the choice of test examples adds to the variance; None leaves it out
    """
    for name, row in rows.items():
        if name == reference:
            continue
        lines = compare_rows(row, rows[reference], "test", with_units=False)
        own = [line for line in lines if known(line.name) is not None and line.difference is not None]
        if units is not None:
            own = _with_examples(own, name, reference, rows, units)
        for line in own:
            yield f"{line.name}: {name} minus {reference}: {_sentence(line, row, rows[reference])}"


def _with_examples(
    lines: list[ScoreComparison], name: str, reference: str, rows: Mapping[str, RowScores], units: Units
) -> list[ScoreComparison]:
    """The lines with the variance over test examples; p is corrected anew."""
    crossed = []
    for line in lines:
        if line.p is not None:
            sides = rows[name].values(line.name), rows[reference].values(line.name)
            line = replace(line, comparison=compare(*sides, *units(name, reference, line.name)))
        crossed.append(line)
    corrected = holm([line.comparison.p if line.p is not None else None for line in crossed])
    return [replace(line, p=p) for line, p in zip(crossed, corrected, strict=True)]


def _sentence(line: ScoreComparison, first: RowScores, other: RowScores) -> str:
    difference = f"{line.difference:+.2f}"
    if line.p is None or line.interval is None:
        why = line.reason or "one pretraining a side says nothing of others"
        return f"{difference}; of these checkpoints alone ({why})."
    half = (line.interval[1] - line.interval[0]) / 2
    text = f"{difference} ± {half:.2f}, p {line.p:.2g} (corrected over the datasets)"
    if line.p < LEVEL:
        return f"{text}: separated."
    deviation = statistics.fmean(statistics.variance(row.values(line.name)) for row in (first, other)) ** 0.5
    count = runs_needed(line.difference or 0.0, deviation)
    more = f"more than {MOST} pretrainings a side" if count is None else f"about {count} pretrainings a side"
    return f"{text}: not separated; {more} would, if the difference is as large as it looks."
