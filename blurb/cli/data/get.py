"""`blurb data get`: download, prepare and verify in one command."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from blurb import tasks
from blurb.cli import _complete
from blurb.cli.data.download import bars, moved
from blurb.corpora.download import fetch
from blurb.corpora.get import get as bring
from blurb.data import home
from blurb.messages.errors import DataError
from blurb.messages.text import option
from blurb.terminal.output import show

if TYPE_CHECKING:
    from rich.progress import Progress

    from blurb.tasks import Download


@click.command()
@click.option(
    "--tasks",
    "selection",
    shell_complete=_complete.tasks,
    default="all",
    show_default=True,
    help="Task names or types, comma-separated.",
)
@click.option("--data", type=click.Path(path_type=Path), help="Data folder; BLURB_DATA, or by default the user's own.")
@click.option("--raw", type=click.Path(path_type=Path), help="Folder of the original releases.  [default: beside it]")
@click.option("--accept-licences", is_flag=True, help="Accept the licences shown without being asked.")
def get(selection: str, data: Path | None, raw: Path | None, accept_licences: bool) -> None:
    """Get the datasets: download, prepare and verify them.

    Three datasets cannot be downloaded (ChemProt and BioASQ need a registration, BIOSSES is a RAR archive): the table
    at the end says from where, and into which folder. Run the same command again after that, or after an interruption:
    what is there already is not fetched again. Exit code 0 if all are there, 1 if some still need something, 2 if
    nothing could be begun.
    """
    chosen = tasks.load_selection(selection)
    folder = data or home.home()
    originals = raw or folder.with_name("originals")
    show(("dataset", "licence"), [(task.name, task.licence) for task in chosen], "table")
    if not accept_licences:
        if not sys.stdin.isatty():
            raise DataError("nothing was downloaded: add --accept-licences to accept the licences shown.")
        click.confirm("Do you accept these licences?", abort=True)
    outcomes = []
    for task in chosen:
        click.echo(f"{task.title} ...", err=True)
        with bars() as shown:
            outcomes.append(bring(task, originals, folder, partial(_fetched, shown, originals)))
    show(
        ("dataset", "verdict", "what it still needs"),
        [(got.task.name, got.verdict, got.needs) for got in outcomes],
        "table",
    )
    there = [got.task.name for got in outcomes if not got.needs]
    if there:
        named = option("--data", data) if data else ""
        click.echo(f"{folder} has {len(there)} of {len(chosen)}. Next: blurb run MODEL{named}")
    if len(there) < len(chosen):
        raise SystemExit(1)


def _fetched(shown: Progress, folder: Path, file: Download) -> None:
    bar = shown.add_task(Path(file.path).name, total=file.size)
    try:
        fetch(file, folder, partial(moved, shown, bar))
    finally:
        shown.remove_task(bar)
