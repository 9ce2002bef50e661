"""`blurb leaderboard init`, `submit`, `withdraw` and `rescore`: a board and its rows."""

from __future__ import annotations

from pathlib import Path

import click

from blurb import tasks
from blurb.extensions.board import boards, founding, ledger, rescoring
from blurb.planning.request import folders

BOARD = click.argument("board", type=click.Path(path_type=Path))
BY = click.option("--by", required=True, metavar="NAME", help="Who does it, for the ledger.")


@click.command()
@BOARD
@click.option("--title", default="BLURB board", show_default=True, help="Name of the board.")
@click.option("--suite", type=click.Choice(["blurb", "demo"]), default="blurb", show_default=True, help="Data suite.")
@click.option("--blurb", "requirement", metavar="WHAT", help="What pip installs there.  [default: this version]")
def init(board: Path, title: str, suite: str, requirement: str | None) -> None:
    """Write the files of a new board.

    Rules, an empty ledger, and workflows for a repository that look at what strangers send. They are safe to run on
    anything: what is sent is read as data, without secrets.
    """
    for path in founding.found(board, title, suite, requirement or ""):
        click.echo(f"Written: {path}")


@click.command()
@BOARD
@click.argument("row", type=click.Path(path_type=Path))
@click.option("--as", "name", required=True, metavar="FOLDER", help="Name of its folder on the board.")
@BY
def submit(board: Path, row: Path, name: str, by: str) -> None:
    """Put a row on a board.

    ROW is what blurb export row wrote. Its files are copied to the rows of BOARD, and the ledger says so. Nothing is
    believed of it yet: that is for blurb leaderboard verify.
    """
    click.echo(f"Added: {boards.submit(board, row, name, by, ledger.today())}")


@click.command()
@BOARD
@click.argument("name")
@click.option("--reason", required=True, help="Why, for the ledger.")
@BY
def withdraw(board: Path, name: str, reason: str, by: str) -> None:
    """Take a row from a board.

    NAME is that of its folder. Its files go; the ledger keeps who took it away, and why.
    """
    boards.withdraw(board, name, by, reason, ledger.today())
    click.echo(f"Withdrawn: {name}")


@click.command()
@BOARD
@click.argument("name")
@click.option("--data", type=click.Path(path_type=Path), help="Your own data folder, which has the gold answers.")
@click.option("--suite", type=click.Choice(["blurb", "demo"]), default="blurb", show_default=True, help="Data suite.")
@BY
def rescore(board: Path, name: str, data: Path | None, suite: str, by: str) -> None:
    """Score a row of a board again, by newer metrics.

    Its figures are computed from its predictions. The ledger keeps the score before and after.
    """
    place, _ = folders(suite, data, None, tasks.load_selection("all"))
    entry = rescoring.rescore(board, name, place, by, ledger.today())
    click.echo(f"{name}: {entry.old:.2f} before, {entry.new:.2f} now")
