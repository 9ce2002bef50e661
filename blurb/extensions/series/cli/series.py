"""`blurb series`: the checkpoints of pretraining runs, scored as a series."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from blurb.cli import _complete
from blurb.cli._exit import PARTLY
from blurb.cli._options import trials
from blurb.cli._written import can_draw, list_written
from blurb.extensions.series.api.following import series
from blurb.extensions.series.series import PICTURE
from blurb.tasks import SCORED


@click.command(name="series")
@click.argument("runs", nargs=-1, required=True, metavar="RUN_DIR...")
@click.option("--tasks", default="all", show_default=True, shell_complete=_complete.tasks,
              help="Datasets to score (names or types).")  # fmt: skip
@click.option("--protocol", default="sketch", show_default=True, help="Protocol of all checkpoints.")
@click.option("--full", metavar="PROTOCOL", help="Then score the best and the last of each run by this protocol.")
@click.option("--budget", metavar="TIME", help="Time limit such as 30m: first, last, middle, then where it bends.")
@click.option("--pattern", metavar="GLOB", help="Names of the checkpoints.  [default: every folder that is one]")
@click.option("--require", type=click.IntRange(min=0), multiple=True, metavar="STEP",
              help="Fail if a run lacks this step; repeatable.")  # fmt: skip
@click.option("--split", type=click.Choice(SCORED), default="dev", show_default=True, help="Split of the scores.")
@click.option("--beside", multiple=True, metavar="ROW", shell_complete=_complete.rows_anywhere,
              help="Draw a row as a line: a baseline, a published one; repeatable.")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default="series", show_default=True,
              help="Folder of table, picture and page.")  # fmt: skip
@click.option("--read", is_flag=True, help="Score nothing; show the rows that are in the store.")
@trials
def command(runs: tuple[str, ...], out: Path, read: bool, **given: Any) -> None:
    """Score the checkpoints of pretraining runs as a series.

    RUN_DIR has checkpoint-N folders, or others whose names end in their step; org/model@step* names revisions on the
    Hub. A checkpoint is the row run@step; what is scored is not scored again. Half-copied checkpoints, two of one step
    and those of an attempt that was given up are told and left out. See docs/extensions/series.md.
    """
    checkpoints = series(list(runs), run=not read, progress=True, **given)
    for note in checkpoints.notes:
        click.secho(note, fg="yellow", err=True)
    for sentence in checkpoints.reading() if checkpoints.families else ():
        click.echo(sentence)
    list_written(checkpoints.write(out, picture=can_draw()), PICTURE)
    raise SystemExit(PARTLY if checkpoints.failed else 0)
