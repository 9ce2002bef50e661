"""Rows from a store and from tables together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from blurb.messages.errors import DataError
from blurb.results import from_store, merge, results_csv
from blurb.results.row_scores import Origin, RowScores, labelled
from blurb.store.store import Store


def read(store: Path | None, results: Sequence[Path] = ()) -> list[RowScores]:
    """The rows of a store and of tables; a row that is in both is taken from the store.

    :param store: folder of the trials; may be missing; None for tables alone
    :param results: files in the format of `results.csv`
    :raises DataError: if a file is invalid, or two files have different runs of one row or contradict each other
    """
    if len(results) > 1:
        merge.lines_of(results)  # refuses what leaderboard merge refuses, with both files and lines
    rows = {row.identity: row for row in _of_store(store)}
    for path in results:
        for row in results_csv.read(path):
            known = rows.get(row.identity)
            if known is None and row.means():
                rows[row.identity] = row
            elif known is not None and known.origin is Origin.RESULTS and _has_more(row, known):
                raise DataError(
                    f"has runs of {row.name} that another of the files with that row does not have; merge the files "
                    "first, with blurb leaderboard merge.",
                    path,
                )
    return labelled(list(rows.values()))


def _of_store(store: Path | None) -> list[RowScores]:
    return [] if store is None or not store.is_dir() else from_store.read(Store(store), every_file=False)


def _has_more(row: RowScores, known: RowScores) -> bool:
    return any(set(row.seeds(task)) - set(known.seeds(task)) for task in row.datasets)
