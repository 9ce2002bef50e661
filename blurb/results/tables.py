"""`results.csv` and `leaderboard.csv` of a store: views that are rebuilt, under a lock, from it and `external.csv`.

Numbers are times 100 with two decimals (four in `results.csv`); a missing value is an empty cell. Nothing in them
depends on when or where a trial ran, so an interrupted and an uninterrupted run give equal files.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock

from blurb.errors import DataError, StoreError, Tell, tell_damage
from blurb.results import csv_files, from_store, leaderboard_csv, owners, published, results_csv
from blurb.results.row_scores import RowScores
from blurb.results.schema import READ, SCHEMA
from blurb.runs.store import Store

DEFAULT = "leaderboard.csv"


def results_beside(leaderboard: Path) -> Path:
    """The long table of a wide one: `results.csv` beside `leaderboard.csv`, `mine-results.csv` beside `mine.csv`."""
    if leaderboard.name == DEFAULT:
        return leaderboard.with_name("results.csv")
    return leaderboard.with_name(f"{leaderboard.stem}-results.csv")


def rebuild(store: Store, leaderboard: Path, tell: Tell = tell_damage) -> list[RowScores]:
    """Writes `leaderboard` and its long table beside it; returns the rows of the store.

    :param tell: is told of what is damaged in the store, and left out
    :raises StoreError: if one of the files has another schema version or is of another store; nothing is written then
    """
    folder = leaderboard.parent
    folder.mkdir(parents=True, exist_ok=True)
    with lock(folder):
        rows, others = check(store, leaderboard, tell)
        results_csv.write(results_beside(leaderboard), rows)
        leaderboard_csv.write(leaderboard, [*rows, *others])
        owners.note(store, leaderboard)
    return rows


def lock(folder: Path) -> FileLock:
    """Whoever writes tables into a folder holds it."""
    return FileLock(folder / ".blurb-tables.lock")


def check(store: Store, leaderboard: Path, tell: Tell = tell_damage) -> tuple[list[RowScores], list[RowScores]]:
    """The rows of the store and those of `external.csv`; StoreError or DataError if no tables could be written.

    Writes nothing itself.
    """
    if leaderboard.name in ("results.csv", "external.csv"):
        raise StoreError(f"--leaderboard cannot be {leaderboard.name}: that file stands beside it.")
    results = results_beside(leaderboard)
    check_schema(leaderboard, leaderboard_csv.COLUMNS)
    check_schema(results, results_csv.COLUMNS)
    owners.check(store, leaderboard, results)
    external = leaderboard.with_name("external.csv")
    return from_store.read(store, tell), published.read(external) if external.exists() else []


def check_schema(path: Path, columns: Sequence[str]) -> None:
    """StoreError if a file is there that this version did not write, or that is the other of the two tables."""
    if not path.exists():
        return
    try:
        there, lines = csv_files.read(path)
        version = (lines[0][1].get("schema") if lines else str(SCHEMA)) if "schema" in there else None
    except DataError:
        there, version = (), None
    if version not in READ:
        raise StoreError(
            f"{path} has schema version {version or 'none'}, this version of blurb writes {SCHEMA}. "
            "It was left as it is; give another file with --leaderboard, or move it away."
        )
    if ("metric" in there) != ("metric" in columns):
        kind = "a table of runs" if "metric" in there else "a leaderboard"
        raise StoreError(f"{path} is {kind} and was left as it is; give another file with --leaderboard.")
