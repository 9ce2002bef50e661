"""`blurb leaderboard html`: the whole leaderboard as one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click

from blurb.cli._made import RESULTS, TOGETHER, click_command
from blurb.extensions.reports.html.collect import TITLE, collect
from blurb.extensions.reports.html.model import Curves, ListedBoard
from blurb.extensions.reports.html.render import render
from blurb.messages import SettingsError, count_noun
from blurb.options import Option
from blurb.planning.options import OUTPUT
from blurb.system.files import write_whole


@click_command("html")
def command(
    *,
    out: Annotated[Path, Option(help="File to write.", path="file")] = Path("leaderboard.html"),
    output: Annotated[Path, OUTPUT] = Path("runs"),
    results: Annotated[tuple[Path, ...], RESULTS] = (),
    together: Annotated[bool, TOGETHER] = False,
    ablations: Annotated[
        Path | None,
        Option(
            help="Also show the tables that blurb ablate wrote to this folder.",
            path="dir",
            metavar="DIR",
        ),
    ] = None,
    generalisation: Annotated[
        Path | None,
        Option(help="Also show a table of blurb generalisation --format csv.", path="file"),
    ] = None,
    title: Annotated[str, Option(help="Title of the page.")] = TITLE,
    no_published: Annotated[bool, Option(help="Leave out the published rows.")] = False,
    board: ListedBoard | None = None,
    series: Curves | None = None,
) -> None:
    """Write the leaderboard as one HTML file.

    The file works offline and without a server. It has sortable tables, charts, pairwise comparisons, and the
    provenance of each row.
    """
    if not output.is_dir() and not results and no_published and board is None:
        raise SettingsError(
            f"Nothing to show: there is no store at {output}.",
            fix="Add --results, or remove --no-published.",
        )
    page = collect(
        output, results, ablations, title, not no_published, board, together, series, generalisation
    )
    write_whole(out, render(page).encode())
    own = [entry.kind != "published" for board in page.boards for entry in board.entries]
    others = f", {own.count(False)} published" if False in own else ""
    click.echo(f"{out}: {count_noun(own.count(True), 'own row')}{others}.")
