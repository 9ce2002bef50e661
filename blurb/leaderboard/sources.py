"""Where the rows of a table or page come from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from blurb.messages.errors import DataError
from blurb.results import from_store, groups, merge, results_csv
from blurb.results.groups import Standing
from blurb.results.row import Origin, Row, labelled
from blurb.store.store import Store


class Board(Protocol):
    """Rows that somebody keeps and verifies: the value of the option `--board`, which an extension brings."""

    folder: Path

    def rows(self) -> Sequence[Row]:
        """Its rows; DataError if they cannot be read, SettingsError if there is no board."""

    def is_claimed(self, row: Row) -> bool:
        """Whether nobody recomputed the figures of one of its rows."""

    def withdrawn(self) -> Sequence[str]:
        """The rows that were taken from it, a sentence each, earliest first."""


def read(store: Path | None, results: Sequence[Path] = (), board: Board | None = None) -> list[Row]:
    """The rows of a store or a board, and of tables; a row that is in both is taken from the store.

    :param store: folder of the trials; may be missing; None for tables alone
    :param results: files in the format of `results.csv`
    :param board: a board, whose rows stand in the place of those of the store
    :raises DataError: if a file is invalid, or two files have different runs of one row or contradict each other
    :raises SettingsError: if there is no board
    """
    if len(results) > 1:
        merge.lines_of(results)  # refuses what leaderboard merge refuses, with both files and lines
    listed = () if board is None else board.rows()
    own = [] if board or store is None or not store.is_dir() else from_store.read(Store(store), every_file=False)
    rows = {row.primary_key: row for row in own}
    for path in results:
        for row in results_csv.read(path):
            known = rows.get(row.primary_key)
            if known is None and row.means():
                rows[row.primary_key] = row
            elif known is not None and known.origin is Origin.RESULTS and _has_more(row, known):
                raise DataError(
                    f"has runs of {row.name} that another of the files with that row does not have; merge the files "
                    "first, with blurb leaderboard merge.",
                    path,
                )
    return [*listed, *labelled(list(rows.values()))]


def _has_more(row: Row, known: Row) -> bool:
    return any(set(row.seeds(task)) - set(known.seeds(task)) for task in row.datasets)


def standing(row: Row, board: Board | None = None, together: bool = False) -> Standing:
    """The standing of one of these rows; beside those of a board, the rows of a table are what somebody says.

    :param together: whether rows whose kind allows it are ranked with published ones
    """
    claimed = board is not None and (row.origin is not Origin.BOARD or board.is_claimed(row))
    return groups.of_row(row, claimed, together)
