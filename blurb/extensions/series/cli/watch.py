"""`blurb watch`: scores the checkpoints of a training as they appear."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from blurb.cli import _complete
from blurb.cli._exit import PARTLY, UNKNOWN, gate
from blurb.cli._options import trials
from blurb.cli._written import can_draw, list_written
from blurb.extensions.series.api.following import watch
from blurb.extensions.series.series import PICTURE
from blurb.messages.text import grouped
from blurb.tasks import SCORED

if TYPE_CHECKING:
    from blurb.extensions.series.series import Series
    from blurb.regression import Decision
    from blurb.results.row_scores import RowScores

REDRAWN = 30.0
"""Seconds between two pictures while more checkpoints wait."""


@click.command(name="watch")
@click.argument("runs", nargs=-1, required=True, metavar="RUN_DIR...")
@click.option("--tasks", default="all", show_default=True, shell_complete=_complete.tasks,
              help="Datasets to score (names or types).")  # fmt: skip
@click.option("--protocol", default="sketch", show_default=True, help="Protocol of all checkpoints.")
@click.option("--pattern", metavar="GLOB", help="Names of the checkpoints.  [default: every folder that is one]")
@click.option("--split", type=click.Choice(SCORED), default="dev", show_default=True, help="Split of the scores.")
@click.option("--pause", default="30s", show_default=True, metavar="TIME", help="Time between two looks.")
@click.option("--idle", default="2h", show_default=True, metavar="TIME",
              help="A run without a new checkpoint for so long has ended.")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default="series", show_default=True,
              help="Folder of table, picture and page, written as checkpoints are scored.")  # fmt: skip
@click.option("--check", metavar="ROW", shell_complete=_complete.rows_anywhere,
              help="Compare each checkpoint with this baseline, as blurb check does.")  # fmt: skip
@click.option("--rules", type=click.Path(path_type=Path), help="Rules for --check.  [default: blurb-check.toml]")
@click.option("--state", type=click.Path(path_type=Path), metavar="FILE",
              help="With --check: the checkpoints share its level; FILE remembers them.")  # fmt: skip
@click.option("--looks", type=int, metavar="N", help="With --state: checkpoints that will be checked.")
@click.option(
    "--sd", type=float, metavar="POINTS", help="With --check: standard deviation between runs, if none show it."
)
@trials
def command(runs: tuple[str, ...], out: Path, **given: Any) -> None:
    """Score the checkpoints of a training as they appear.

    A checkpoint is scored once it is whole, also on a network disk. It ends with the run: when the last planned step is
    scored, or nothing new comes for --idle. What is scored is not scored again: start it again after a kill. Exit code
    with --check: 1 if any checkpoint is a regression, 2 if any failed or cannot be judged, as of blurb check.
    """
    picture = can_draw()
    codes: list[int] = []
    drawn = [-math.inf]
    if given["check"] is not None:
        gate()

    def seen(series: Series, row: RowScores | None, decision: Decision | None) -> None:
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
            why = grouped((finding.name, "; ".join(finding.reasons)) for finding in decision.findings)
            click.echo(" ".join([f"{row.model}: {decision.outcome.words}.", *why]))
        # Of many that are scored already, as after a kill, each would wait for seconds of drawing.
        if row.model == series.scored[-1].step.name or time.monotonic() - drawn[-1] > REDRAWN:
            series.write(out, picture)
            drawn.append(time.monotonic())

    notes: list[str] = []

    def told(note: str) -> None:
        notes.append(note)
        click.secho(note, fg="yellow", err=True)

    checkpoints = watch(list(runs), seen=seen, told=told, **given)
    for note in checkpoints.notes:
        if note not in notes:
            click.secho(note, fg="yellow", err=True)
    for sentence in checkpoints.reading():
        click.echo(sentence)
    list_written(checkpoints.write(out, picture), PICTURE)
    if given["check"] is None:
        raise SystemExit(PARTLY if checkpoints.failed else 0)
    raise SystemExit(PARTLY if PARTLY in codes else max(codes, default=UNKNOWN))
