"""The row that somebody names: of the store, of another store, of a table, of a paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from blurb.errors import DataError, SettingsError, Tell, UnknownName, tell_damage
from blurb.results import csv_files, from_store, leaderboard_csv, published, results_csv, tables
from blurb.results.row_scores import RowScores, labelled
from blurb.results.schema import Numbered
from blurb.runs.store import Store

PUBLISHED = "published"


def resolve(reference: str, store: Path, tell: Tell = tell_damage) -> RowScores:
    """The row that a reference names.

    `MODEL` or `MODEL CONFIGURATION` of the store; `FOLDER[:ROW]` of another store; `FILE.csv[:ROW]`, a `results.csv` or
    a `leaderboard.csv` (the `results.csv` beside it is read for the runs); `published:MODEL`. ROW may be left out where
    there is one.

    :param tell: is told of what is damaged in a store, and left out
    :raises SettingsError: or UnknownName with the closest, if there is no such row, or several
    :raises DataError: if a file is not what it should be; names the line
    """
    if reference.startswith(f"{PUBLISHED}:"):
        return _pick(published.shipped(), reference.partition(":")[2], "the published rows")
    mine = from_store.read(Store(store), tell)
    path, row = _split(reference)
    if path is None or any(reference in (one.model, one.name) for one in mine):
        return _pick(mine, reference, str(store))
    if path.is_dir():
        return _pick(from_store.read(Store(path), tell), row, str(path))
    return _pick(of_file(path), row, str(path))


def _split(reference: str) -> tuple[Path | None, str]:
    """The table or store that a reference begins with, and the row in it."""
    if _holds_rows(Path(reference)):
        return Path(reference), ""
    for place in (place for place, character in enumerate(reference) if character == ":"):
        if _holds_rows(Path(reference[:place])):
            return Path(reference[:place]), reference[place + 1 :]
    if reference.endswith((".csv", "/")) or ".csv:" in reference:
        raise DataError("there is no such file or folder.", Path(reference))
    return None, reference


def _holds_rows(path: Path) -> bool:
    """A file, or a folder with rows of trials: a checkpoint may lie where its row is asked for."""
    try:
        return path.is_file() or any(path.glob("*/rows/*.json")) or (path.is_dir() and not any(path.iterdir()))
    except OSError:  # longer than a path can be, as the name of a row may be; or nobody may look into it
        return False


def _pick(rows: Sequence[RowScores], wanted: str, where: str) -> RowScores:
    if not rows:
        raise SettingsError(f"{where}: there is no finished row.")
    if not wanted:
        if len(rows) > 1:
            raise SettingsError(f"{where} has several rows; name one: {_listed(rows)}.")
        return rows[0]
    fits = [row for row in rows if row.name == wanted] or [row for row in rows if row.model == wanted]
    if not fits:
        known = [*dict.fromkeys(row.model for row in rows), *(row.name for row in rows)]
        raise UnknownName(f"row (in {where})", wanted, known)
    if len(fits) > 1:
        raise SettingsError(f"{where} has several rows of {wanted}; name one: {_listed(fits)}.")
    return fits[0]


def _listed(rows: Iterable[RowScores]) -> str:
    return ", ".join(f"'{row.name}'" for row in rows)


def of_file(path: Path, alone: bool = False) -> list[RowScores]:
    """All rows of a `results.csv` or `leaderboard.csv`; DataError (file, line) if it is neither.

    :param alone: read this file, and not the `results.csv` beside a `leaderboard.csv` that has its runs
    """
    if "metric" in csv_files.columns(path):
        return results_csv.read(path)
    lines = leaderboard_csv.read_lines(path)
    runs = None if alone else _runs_of(path, lines)
    if runs is None:
        return leaderboard_csv.of_lines(lines, path)
    others = leaderboard_csv.of_lines([numbered for numbered in lines if numbered[1]["source"]], path)
    return labelled([*runs, *others])


def _runs_of(path: Path, lines: Sequence[Numbered]) -> list[RowScores] | None:
    """The rows of the table of runs beside a `leaderboard.csv` that has all its rows; None if there is none.

    Until schema 3 every table had its runs in `results.csv`.
    """
    columns = ("suite", "model", "weights", "protocol", "overrides", "precision")
    mine = {tuple(line[column] for column in columns) for _, line in lines if not line["source"]}
    for beside in dict.fromkeys((tables.results_beside(path), path.with_name("results.csv"))):
        if beside.is_file():
            runs = results_csv.read_lines(beside)
            if mine <= {tuple(line[column] for column in columns) for _, line in runs}:
                return results_csv.of_lines(line for _, line in runs)
    return None
