"""Where the rows of a table or page come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from blurb.board import listing
from blurb.board.listing import BoardListing
from blurb.results import gathered
from blurb.results.row_scores import RowScores


def read(
    store: Path, results: Sequence[Path] = (), board: Path | None = None, together: bool = False
) -> tuple[list[RowScores], list[BoardListing]]:
    """The rows, and what a board says of those that are of it.

    :param store: folder of the trials; may be missing
    :param results: files in the format of `results.csv`
    :param board: a board, whose rows stand in the place of those of the store
    :param together: whether rows whose kind allows it are ranked with published ones
    :raises DataError: if a file is invalid, or two files have different runs of one row
    :raises SettingsError: if there is no board
    """
    listings = [] if board is None else listing.read(board)
    others = gathered.read(store if board is None else None, results)
    # Beside the rows of a board, those of a table are what somebody says.
    rows = [*(each.scores for each in listings), *(replace(row, claimed=board is not None) for row in others)]
    return [replace(row, together=together and row.kind.joins) for row in rows], listings
