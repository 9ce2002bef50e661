"""Merges the `results.csv` of several machines into one, with its `leaderboard.csv`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from blurb.messages.errors import StoreError
from blurb.messages.spelling import opt
from blurb.results import dataset_cells, leaderboard_csv, results_csv, table_owners, tables
from blurb.results.results_csv import ALIKE, COLUMNS, RUN, check_alike
from blurb.results.schema import KEY, Numbered
from blurb.store import schema


def merge(paths: Sequence[Path], folder: Path) -> int:
    """Writes `results.csv` and `leaderboard.csv` into `folder`; returns the number of lines.

    Identical lines of several files are merged. The tables then belong to no store, and numbers in an `external.csv` of
    the folder stay in its leaderboard.

    :raises DataError: naming both files and lines, if lines contradict, or seeds of one row cannot be averaged
    :raises StoreError: if the folder is a store, or has tables of another schema
    """
    if (folder / schema.FILE).exists():
        raise StoreError(
            "is a store, whose tables are its own", where=folder, fix=f"choose another {opt('out')} folder."
        )
    places, merged = lines_of(paths)
    folder.mkdir(parents=True, exist_ok=True)
    results, leaderboard = folder / "results.csv", folder / tables.DEFAULT
    with tables.writing(folder):
        tables.check_schema(results, results_csv.COLUMNS, f"{opt('out')} folder")
        tables.check_schema(leaderboard, leaderboard_csv.COLUMNS, f"{opt('out')} folder")
        _check_nothing_lost(results, merged)
        external = tables.external(leaderboard)
        # Of all places: a machine may have been asked for fewer seeds than another.
        rows = results_csv.of_lines(line for _, line in _asked_most(places, merged))
        table_owners.forget(leaderboard)  # first: the store that wrote them before must not write over the merged ones
        results_csv.write(results, rows)
        leaderboard_csv.write(leaderboard, [*rows, *external])
    return len(merged)


def lines_of(paths: Sequence[Path]) -> tuple[list[Numbered], dict[tuple[str, ...], Numbered]]:
    """All lines of several files with their places, and each run once.

    :raises DataError: naming both files and lines, if lines contradict, or seeds of one row cannot be averaged
    """
    places = [numbered for path in paths for numbered in results_csv.read_lines(path)]
    merged: dict[tuple[str, ...], Numbered] = {}
    for place in places:
        at, line = place
        before, other = merged.setdefault(tuple(line[column] for column in RUN), place)
        if differing := [c for c in COLUMNS if c not in ("planned", "plan") and other[c] != line[c]]:
            raise at.error(
                f"{line['model']} {line['task']} seed {line['seed']} {line['split']} {line['metric']}: "
                f"{', '.join(differing)} differs from {before.path}:{before.number}",
                "remove one of these lines.",
            )
    check_alike(merged.values(), ALIKE)
    return places, merged


def _asked_most(places: Sequence[Numbered], merged: Mapping[tuple[str, ...], Numbered]) -> list[Numbered]:
    """The merged lines, with the largest number of planned seeds in any file for their dataset, and all plans."""
    most: dict[tuple[str, ...], int] = {}
    asked: dict[tuple[str, ...], list[str]] = {}
    for _, line in places:
        row = tuple(line[column] for column in KEY)
        asked.setdefault(row, []).append(line["plan"])
        most[*row, line["task"]] = max(most.get((*row, line["task"]), 0), int(line["planned"]))
    plan = {row: dataset_cells.joined(dataset_cells.together(cells)) for row, cells in asked.items()}
    return [
        (at, {**line, "planned": str(most[*row, line["task"]]), "plan": plan[row]})
        for at, line in merged.values()
        for row in [tuple(line[column] for column in KEY)]
    ]


def _check_nothing_lost(target: Path, merged: Mapping[tuple[str, ...], Numbered]) -> None:
    """Raises a DataError if the existing table has lines that the merged one would not have."""
    if not target.exists():
        return
    there = {(line["model"], line["task"], line["trial"]) for _, line in merged.values()}
    for at, line in results_csv.read_lines(target):
        if (line["model"], line["task"], line["trial"]) not in there:
            raise at.error(
                f"the table has {line['model']} on {line['task']}, seed {line['seed']}, which is in none of the "
                "given files and would be lost",
                f"add this table to the files, or choose another {opt('out')} folder.",
            )
