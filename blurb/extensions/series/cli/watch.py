"""`blurb watch`: scores the checkpoints of a training as they appear."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import click

from blurb.cli._exit import PARTLY, UNKNOWN, gate_exit_code, mark_as_gate, report_unwritten
from blurb.cli._made import click_command
from blurb.extensions.series.api.following import watch
from blurb.extensions.series.series import PICTURE, Series
from blurb.messages import group_reasons
from blurb.options import Option
from blurb.planning.options import TRIALS
from blurb.regression import Decision
from blurb.results.row import Row
from blurb.terminal.output import can_draw, list_written

REDRAWN = 30.0
"""Seconds between two pictures while more checkpoints wait."""


@click_command("watch", watch, TRIALS)
def command(
    runs: Sequence[str],
    *,
    out: Annotated[
        Path,
        Option(
            help="Folder of table, picture and page, written as checkpoints are scored.", path="dir"
        ),
    ] = Path("series"),
    **given: Any,
) -> None:
    """Score the checkpoints of a training as they appear.

    A checkpoint is scored once it is whole, also on a network disk. It ends with the run: when the last planned step is
    scored, or nothing new comes for --idle. What is scored is not scored again: start it again after a kill. Exit code
    with --check: 1 if any checkpoint is a regression, 2 if any failed or cannot be judged, as of blurb check.
    """
    picture = can_draw()
    codes: list[int] = []
    drawn = [-math.inf]
    if given["check"] is not None:
        mark_as_gate()

    def seen(series: Series, row: Row | None, decision: Decision | None) -> None:
        if row is None:
            click.secho(series.notes[-1], fg="red", err=True)
            if given["check"] is not None:
                codes.append(UNKNOWN)
            return
        means = row.means(series.split)
        click.echo(
            f"{row.model}: {', '.join(f'{name} {means[name]:.2f}' for name in series.datasets if name in means)}"
        )
        if decision is not None:
            codes.append(decision.exit_code)
            why = group_reasons(
                (finding.name, "; ".join(finding.reasons)) for finding in decision.findings
            )
            click.echo(" ".join([f"{row.model}: {decision.outcome.words}.", *why]))
        # Of many that are scored already, as after a kill, each would wait for seconds of drawing.
        if row.model == series.scored[-1].step.name or time.monotonic() - drawn[-1] > REDRAWN:
            with report_unwritten(codes):
                series.write(out, picture)
            drawn.append(time.monotonic())

    notes: list[str] = []

    def show_note(note: str) -> None:
        notes.append(note)
        click.secho(note, fg="yellow", err=True)

    checkpoints = watch(list(runs), seen=seen, told=show_note, **given)
    for note in checkpoints.notes:
        if note not in notes:
            click.secho(note, fg="yellow", err=True)
    for sentence in checkpoints.reading():
        click.echo(sentence)
    with report_unwritten(codes):
        list_written(checkpoints.write(out, picture), PICTURE)
    if given["check"] is None:
        raise SystemExit(PARTLY if checkpoints.failed else max(codes, default=0))
    raise SystemExit(gate_exit_code(codes))
