"""`blurb leaderboard init`, `submit`, `withdraw` and `rescore`: a board and its rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import click

from blurb import tasks
from blurb.cli._made import click_command
from blurb.extensions.board import boards, ledger
from blurb.options import Argument, Option
from blurb.planning.options import SUITE
from blurb.planning.steps import find_folders

BY = Option(help="Who does it, for the ledger.", metavar="NAME")


@click_command("init")
def init(
    board: Annotated[Path, Argument()],
    *,
    title: Annotated[str, Option(help="Name of the board.")] = "BLURB board",
    suite: Annotated[str, replace(SUITE, choices=("blurb", "demo"))] = "blurb",
    requirement: Annotated[
        str | None,
        Option(
            help="What pip installs there.  [default: this version]", flag="--blurb", metavar="WHAT"
        ),
    ] = None,
) -> None:
    """Write the files of a new board.

    Rules, an empty ledger, and workflows for a repository that look at what strangers send. They are safe to run on
    anything: what is sent is read as data, without secrets.
    """
    for path in boards.found_board(board, title, suite, requirement or ""):
        click.echo(f"Written: {path}")


@click_command("submit")
def submit(
    board: Annotated[Path, Argument()],
    row: Annotated[Path, Argument()],
    *,
    name: Annotated[
        str, Option(help="Name of its folder on the board.", flag="--as", metavar="FOLDER")
    ],
    by: Annotated[str, BY],
) -> None:
    """Put a row on a board.

    ROW is what blurb export row wrote. Its files are copied to the rows of BOARD, and the ledger says so. Nothing is
    believed of it yet: that is for blurb leaderboard verify.
    """
    click.echo(f"Added: {boards.submit(board, row, name, by, ledger.today())}")


@click_command("withdraw")
def withdraw(
    board: Annotated[Path, Argument()],
    name: Annotated[str, Argument()],
    *,
    reason: Annotated[str, Option(help="Why, for the ledger.")],
    by: Annotated[str, BY],
) -> None:
    """Take a row from a board.

    NAME is that of its folder. Its files go; the ledger keeps who took it away, and why.
    """
    boards.withdraw(board, name, by, reason, ledger.today())
    click.echo(f"Withdrawn: {name}")


@click_command("rescore")
def rescore(
    board: Annotated[Path, Argument()],
    name: Annotated[str, Argument()],
    *,
    data: Annotated[
        Path | None, Option(help="Your own data folder, which has the gold answers.")
    ] = None,
    raw: Annotated[
        Path | None, Option(help="Your folder of the original releases, if the row needs it.")
    ] = None,
    suite: Annotated[str, SUITE] = "blurb",
    by: Annotated[str, BY],
) -> None:
    """Score a row of a board again, by newer metrics.

    Its figures are computed from its predictions. The ledger keeps the score before and after.
    """
    place, originals = find_folders(suite, data, raw, tasks.load_selection("all", suite))
    entry = boards.rescore(board, name, place, by, ledger.today(), originals)
    click.echo(f"{name}: {entry.old:.2f} before, {entry.new:.2f} now")
