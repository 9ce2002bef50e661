"""Options that the board adds to commands of others."""

from pathlib import Path

import click

from blurb.extensions.board.listing import BoardFolder

BOARD = click.Option(
    ["--board"],
    type=click.Path(path_type=Path),
    metavar="DIR",
    callback=lambda context, parameter, folder: folder and BoardFolder(folder),
    help="Show the rows of this board, not those of a store (docs/extensions/board.md).",
)
