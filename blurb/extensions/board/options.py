"""Options that the board adds to commands of others."""

from __future__ import annotations

from pathlib import Path

import click

from blurb.extensions.board.listing import BoardFolder


def _board(
    context: click.Context, parameter: click.Parameter, value: Path | None
) -> BoardFolder | None:
    return None if value is None else BoardFolder(value)


BOARD = click.Option(
    ["--board"],
    type=click.Path(path_type=Path),
    metavar="DIR",
    callback=_board,
    help="Show the rows of this board, not those of a store (docs/extensions/board.md).",
)
