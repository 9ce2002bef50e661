"""`blurb leaderboard html`: the whole leaderboard as one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from blurb.cli._options import RESULTS, STORE, TOGETHER
from blurb.extensions.reports import html
from blurb.messages.errors import SettingsError
from blurb.messages.text import plural
from blurb.system.files import write_whole

if TYPE_CHECKING:
    from blurb.extensions.reports.html.model import Curves, ListedBoard


@click.command(name="html")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default="leaderboard.html",
    show_default=True,
    help="File to write.",
)
@STORE
@RESULTS
@TOGETHER
@click.option(
    "--ablations",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Also show the tables that blurb ablate wrote to this folder.",
)
@click.option("--title", default="BLURB leaderboard", show_default=True, help="Title of the page.")
@click.option("--no-published", is_flag=True, help="Leave out the published rows.")
def command(
    out: Path,
    output: Path,
    results: tuple[Path, ...],
    together: bool,
    ablations: Path | None,
    title: str,
    no_published: bool,
    board: ListedBoard | None = None,
    series: Curves | None = None,
) -> None:
    """Write the leaderboard as one HTML file.

    The file works offline and without a server. It has sortable tables, charts, pairwise comparisons, and the
    provenance of each row.
    """
    if not output.is_dir() and not results and no_published and board is None:
        raise SettingsError(
            f"Nothing to show: there is no store at {output}.", fix="Add --results, or remove --no-published."
        )
    found = html.collect(output, results, ablations, title, not no_published, board, together, series)
    write_whole(out, html.render(found).encode())
    own = [entry.kind != "published" for board in found.boards for entry in board.entries]
    others = f", {own.count(False)} published" if False in own else ""
    click.echo(f"{out}: {plural(own.count(True), 'own row')}{others}.")
