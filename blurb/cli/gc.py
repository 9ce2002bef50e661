"""`blurb gc`: remove from a store what kills left."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypedDict

import click

from blurb.cli._made import click_command
from blurb.execution import stale_files
from blurb.messages import DataError, count_noun, format_megabytes
from blurb.options import Option
from blurb.planning.options import OUTPUT
from blurb.records import Count, From
from blurb.store.store import Store
from blurb.terminal.output import Column, print_records


class Removed(TypedDict):
    """Files removed from a store, or to be removed."""

    kind: Annotated[str, "what it is"]
    path: Annotated[str, "where it is"]
    bytes: Annotated[Count, "its size", From("size")]


COLUMNS = (
    Column("kind"),
    Column("path"),
    Column("MB", lambda file: format_megabytes(file.size), "s"),
)


@click_command("gc", prints=list[Removed])
def command(
    *,
    output: Annotated[Path, OUTPUT] = Path("runs"),
    data: Annotated[
        Path | None, Option(help="Look into this data folder instead of a store.")
    ] = None,
    dry_run: Annotated[bool, Option(help="Only list the files that would be removed.")] = False,
    form: str,
) -> None:
    """Remove temporary files of interrupted runs from a store.

    Also finished sweeps and checkpoints of finished trials.

    Finished trials, and trials that any machine is running, are not touched. With --data: removes copies of datasets
    that an interrupted blurb data prepare left. (blurb cache empties the caches.)
    """
    if data is not None and not data.is_dir():
        raise DataError("there is no such folder", data, fix="check --data.")
    store = None if data is not None else Store(output)
    if store is not None:
        store.check_exists()
    files = (
        stale_files.find(store) if store is not None else stale_files.find_in_data(data or Path())
    )
    if not dry_run:
        if stale_files.waits(files):
            click.echo(
                "Leases of other machines are watched for two minutes, to be sure that they are gone.",
                err=True,
            )
        files = stale_files.remove(store, files)
    if print_records(form, Removed, files, COLUMNS if files else ()):
        verb = "would go" if dry_run else "removed"
        click.echo(
            f"{count_noun(len(files), 'leftover')} {verb}, {format_megabytes(sum(file.size for file in files))} MB."
        )
