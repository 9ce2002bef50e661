"""`blurb leaderboard submit` and `withdraw`: the rows of a board."""

from __future__ import annotations

import time
from pathlib import Path

import click

BOARD = click.argument("board", type=click.Path(path_type=Path))
BY = click.option("--by", required=True, metavar="NAME", help="Who does it, for the ledger.")


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
    from blurb.board import boards

    click.echo(f"Added: {boards.submit(board, row, name, by, _today())}")


@click.command()
@BOARD
@click.argument("name")
@click.option("--reason", required=True, help="Why, for the ledger.")
@BY
def withdraw(board: Path, name: str, reason: str, by: str) -> None:
    """Take a row from a board.

    NAME is that of its folder. Its files go; the ledger keeps who took it away, and why.
    """
    from blurb.board import boards

    boards.withdraw(board, name, by, reason, _today())
    click.echo(f"Withdrawn: {name}")


def _today() -> str:
    return time.strftime("%Y-%m-%d", time.gmtime())
