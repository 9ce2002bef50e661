"""`blurb data get`: download, prepare and verify in one command."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from blurb import tasks
from blurb.cli._made import click_command
from blurb.cli._options import TASKS
from blurb.cli.data.download import bars, moved
from blurb.corpora import download
from blurb.data import home
from blurb.messages.errors import DataError
from blurb.messages.text import option
from blurb.options import Option
from blurb.terminal.output import show

if TYPE_CHECKING:
    from rich.progress import Progress

    from blurb.tasks import Download


@click_command("get")
def get(
    *,
    selection: Annotated[str, TASKS] = "all",
    data: Annotated[Path | None, Option(help="Data folder; BLURB_DATA, or by default the user's own.")] = None,
    raw: Annotated[Path | None, Option(help="Folder of the original releases.  [default: beside it]")] = None,
    accept_licences: Annotated[bool, Option(help="Accept the licences shown without being asked.")] = False,
) -> None:
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
            outcomes.append(download.get(task, originals, folder, partial(_fetched, shown, originals)))
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
        download.fetch(file, folder, partial(moved, shown, bar))
    finally:
        shown.remove_task(bar)
