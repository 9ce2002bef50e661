"""Where the rows of a table or page come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from blurb.results import gathered
from blurb.results.row_scores import RowScores


class Board(Protocol):
    """Rows that somebody keeps and verifies: the value of the option `--board`, which an extension brings."""

    folder: Path

    def rows(self) -> Sequence[RowScores]:
        """Its rows; DataError if they cannot be read, SettingsError if there is no board."""

    def withdrawn(self) -> Sequence[str]:
        """The rows that were taken from it, a sentence each, earliest first."""


def read(
    store: Path, results: Sequence[Path] = (), board: Board | None = None, together: bool = False
) -> list[RowScores]:
    """The rows of a store, of tables and of a board.

    :param store: folder of the trials; may be missing
    :param results: files in the format of `results.csv`
    :param board: a board, whose rows stand in the place of those of the store
    :param together: whether rows whose kind allows it are ranked with published ones
    :raises DataError: if a file is invalid, or two files have different runs of one row
    :raises SettingsError: if there is no board
    """
    listed = () if board is None else board.rows()
    others = gathered.read(store if board is None else None, results)
    # Beside the rows of a board, those of a table are what somebody says.
    rows = [*listed, *(replace(row, claimed=board is not None) for row in others)]
    return [replace(row, together=together and row.kind.joins) for row in rows]
