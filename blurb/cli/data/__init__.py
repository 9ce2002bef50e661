"""`blurb data`: download, prepare, verify, inspect and export the datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click

from blurb import tasks
from blurb.cli._exit import PARTLY
from blurb.cli._group import Group
from blurb.cli._made import DATA, TASKS_OR_FILES, click_command
from blurb.cli.data.download import download, get
from blurb.cli.data.prepare import prepare, verify
from blurb.data.export import export as write
from blurb.messages import DataError
from blurb.options import Option
from blurb.planning.options import SUITE
from blurb.planning.request import check_files, folders


@click_command("data", cls=Group)
def command() -> None:
    """Get, verify, inspect and export the data."""


for each in (get, download, prepare, verify):
    command.add_command(each)


@click_command("export", within=command)
def export(
    *,
    data: Annotated[Path | None, DATA] = None,
    suite: Annotated[str, SUITE] = "blurb",
    selection: Annotated[str, TASKS_OR_FILES] = "all",
    form: Annotated[
        str,
        Option(
            help="Format of the files; conll is for NER and PICO.",
            flag="--format",
            choices=("jsonl", "parquet", "conll"),
        ),
    ] = "jsonl",
    out: Annotated[Path, Option(help="Folder to write.", path="dir")],
) -> None:
    """Write the splits with ids, for a tool that reads no BLURB layout.

    With --tasks all, splits that the data lacks are left out, and the exit code is 1; a named task must be whole.

    Writes OUT/TASK/SPLIT.FORMAT. The ids are those by which blurb score matches predictions. The files have the text of
    the corpora, whose licences forbid most to be passed on (blurb tasks show TASK).
    """
    chosen = tasks.load_selection(selection)
    folder, _ = folders(suite, data, None, chosen)
    lacking = None
    try:
        check_files(chosen, folder)
    except DataError as error:
        if selection not in ("all", tasks.TWELVE):
            raise
        lacking = error
    written = write(chosen, folder, out, form)
    if not written:
        raise DataError("has none of the chosen datasets.", folder, fix="check --data.")
    for path in written:
        click.echo(path)
    if lacking is not None:
        click.secho(f"Left out: {lacking}", fg="yellow", err=True)
        raise SystemExit(PARTLY)
