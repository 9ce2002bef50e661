"""`blurb run --seeds auto`: five pilot seeds, then once as many as their variance asks for (Stein 1945).

The variance of the pilot decides, and never the difference that it shows: a number of runs that depends on that would
have a level of its own. The row of the comparison says which difference is of interest, and no figure of it is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from blurb.api import running
from blurb.execution import engines
from blurb.execution.engine import Launch
from blurb.messages.errors import ErrorCollector, SettingsError
from blurb.planning.options import POWER, RunOptions
from blurb.planning.seeds import Aim
from blurb.results.references import row_of
from blurb.statistics import planning
from blurb.statistics.pooled import Squares, pool

if TYPE_CHECKING:
    from blurb.api.results import Results
    from blurb.results.row_scores import RowScores

PILOT = 5
"""Seeds of the first stage: fewer ask for many more in the second (`statistics.planning.runs_for`)."""
SPLIT = "test"
"""On which `blurb compare` compares."""


def executed(options: RunOptions) -> Results:
    """Runs the pilot, and then what it asks for; a pilot with failed trials ends there.

    :raises BlurbError: before anything is trained
    """
    aim, against = _checked(options)
    stage = replace(options, seeds=PILOT, against=None, detect=None, power=POWER)
    if options.dry_run:
        click.echo(f"The pilot of {PILOT} seeds; their variance decides how many follow.", err=True)
        return running.executed(stage)
    pilot = running.executed(stage, check_rows=False)
    if pilot.failed or not pilot.rows:
        return pilot
    counts = seeds_of_pilot(pilot.rows[0], aim)
    design = _sentence(aim, against, counts)
    if options.progress:
        click.echo(f"{design[0].upper()}{design[1:]}.", err=True)
    reached = {name: count for name, count in counts.items() if count is not None}
    return running.executed(stage, reached, design)


def seeds_of_pilot(row: RowScores, aim: Aim) -> dict[str, int | None]:
    """The number of seeds of each dataset by the variance of its first five; None if it is above the largest.

    A dataset without variance, as of a learner without runs, keeps what it has.
    """
    counts: dict[str, int | None] = {}
    for name, dataset in row.datasets.items():
        scores = [score for seed, score in dataset.scores(SPLIT).items() if seed <= PILOT]  # type: ignore[arg-type]
        variance = pool([Squares.of(scores)])
        assert aim.detect is not None
        if variance is not None:
            counts[name] = planning.runs_for(aim.detect, variance, aim.level, aim.power, PILOT)
    return counts


def _checked(options: RunOptions) -> tuple[Aim, RowScores]:
    """What the seeds are for, and the row that they are against; all that is wrong with either at once."""
    errors = ErrorCollector()
    for error in options.contradictions:
        errors.add(error)
    if options.budget is not None:
        errors.add(SettingsError("--budget chooses the protocol and its seeds", fix="remove --seeds or --budget."))
    engine = errors.tried(engines.parse, options.engine, Launch(options.jobs, None, options.print_script))
    if engine is not None and engine.hands_over:
        errors.add(SettingsError(
            "--seeds auto needs the results of its pilot, which submitted jobs bring later",
            fix=f"run --seeds {PILOT} with --engine, then blurb plan.",
        ))  # fmt: skip
    aim = errors.tried(Aim, options.detect, options.power) if options.detect is not None else None
    row = None if options.against is None else errors.tried(row_of, options.against, Path(options.output))
    errors.tell()
    assert aim is not None
    assert row is not None
    return aim, row


def _sentence(aim: Aim, against: RowScores, counts: Mapping[str, int | None]) -> str:
    """How the seeds were planned, for the note of the row."""
    planned = ", ".join(f"{name} {PILOT if count is None else count}" for name, count in counts.items())
    text = (
        f"seeds planned in two stages (Stein): the variance of {PILOT}, and not the difference seen, decided how many "
        f"tell {aim.detect:g} points from {against.name} with power {aim.power:g}: {planned or 'no variance'}"
    )
    never = [name for name, count in counts.items() if count is None]
    short = [
        name
        for name, count in counts.items()
        if count and len(against.values(name, SPLIT)) < count  # type: ignore[arg-type]
    ]
    if never:
        text += f"; {', '.join(never)} would take more than 1,000"
    return text + (f"; {against.name} has fewer of {', '.join(short)}" if short else "")
