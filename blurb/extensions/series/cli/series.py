"""`blurb series`: the checkpoints of pretraining runs, scored as a series."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import click

from blurb.cli._exit import PARTLY
from blurb.cli._made import click_command
from blurb.extensions.series.api.following import series
from blurb.extensions.series.series import PICTURE
from blurb.options import Option
from blurb.planning.options import TRIALS
from blurb.terminal.output import can_draw, list_written


@click_command("series", series, TRIALS)
def command(
    runs: Sequence[str],
    *,
    out: Annotated[Path, Option(help="Folder of table, picture and page.", path="dir")] = Path(
        "series"
    ),
    read: Annotated[
        bool, Option(help="Score nothing; show the rows that are in the store.")
    ] = False,
    **given: Any,
) -> None:
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
