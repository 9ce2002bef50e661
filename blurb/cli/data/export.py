"""`blurb data export`: the examples with their ids, for other tools."""

from __future__ import annotations

from pathlib import Path

import click

from blurb import tasks
from blurb.cli import _complete
from blurb.cli._exit import PARTLY
from blurb.data.export import export as write
from blurb.messages.errors import DataError
from blurb.planning.request import check_files, folders


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="Data folder in BLURB's layout.")
@click.option("--suite", type=click.Choice(["blurb", "demo"]), default="blurb", show_default=True, help="Data suite.")
@click.option(
    "--tasks",
    "selection",
    shell_complete=_complete.tasks,
    default="all",
    show_default=True,
    help="Task names, types or files, comma-separated.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "parquet", "conll"]),
    default="jsonl",
    show_default=True,
    help="Format of the files; conll is for NER and PICO.",
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder to write.")
def export(data: Path | None, suite: str, selection: str, form: str, out: Path) -> None:
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
