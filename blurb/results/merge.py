"""One `results.csv` and `leaderboard.csv` from the `results.csv` of several machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from blurb.errors import DataError
from blurb.results import leaderboard_csv, results_csv, tables
from blurb.results.results_csv import ALIKE, COLUMNS, RUN, Place, check_alike
from blurb.results.schema import KEY, READ

OLD_KEY = tuple(column for column in KEY if column not in READ["3"])
NEW_KEY = tuple(column for column in KEY if column in READ["3"])
"""What of a row's key a table of schema 3 has, and what it lacks."""


def merge(paths: Sequence[Path], folder: Path) -> int:
    """Writes `results.csv` and `leaderboard.csv` into `folder`; returns the number of lines.

    A line that several files have is one, if they agree in everything.

    :raises DataError: naming both files and lines, where they do not, or where seeds of one row cannot be averaged
    """
    places = _completed([(path, *numbered) for path in paths for numbered in results_csv.read_lines(path)])
    merged: dict[tuple[str, ...], Place] = {}
    for place in places:
        path, number, line = place
        before = merged.setdefault(tuple(line[column] for column in RUN), place)
        unknown = {*READ[line["schema"]], *READ[before[2]["schema"]], "planned", "schema"}
        if differing := [c for c in COLUMNS if c not in unknown and before[2][c] != line[c]]:
            raise DataError(
                f"{line['model']} {line['task']} seed {line['seed']} {line['split']} {line['metric']}: another "
                f"{', '.join(differing)} than in {before[0]}:{before[1]}.",
                path, number,
            )  # fmt: skip
    check_alike(merged.values(), ALIKE)
    folder.mkdir(parents=True, exist_ok=True)
    with tables.lock(folder):
        target = folder / "results.csv"
        _check_target(target, merged)
        # Of all places: a machine may have been asked for fewer seeds than another.
        rows = results_csv.of_lines(line for _, _, line in _asked_most(places, merged))
        results_csv.write(target, rows)
        leaderboard_csv.write(folder / tables.DEFAULT, rows)
    return len(merged)


def _asked_most(places: Sequence[Place], merged: Mapping[tuple[str, ...], Place]) -> list[Place]:
    """The merged lines with the largest number of planned seeds that any file names for their dataset."""
    most: dict[tuple[str, ...], int] = {}
    for _, _, line in places:
        dataset = tuple(line[column] for column in (*KEY, "task"))
        most[dataset] = max(most.get(dataset, 0), int(line["planned"] or 0))
    return [
        (path, number, {**line, "planned": str(most[tuple(line[column] for column in (*KEY, "task"))])})
        for path, number, line in merged.values()
    ]


def _completed(places: Sequence[Place]) -> list[Place]:
    """Lines of schema 3 with what lines of today know of their row, or of their very trial.

    :raises DataError: if a line could be of several rows: the same trials are needed to tell, or a newer table
    """
    today = [line for _, _, line in places if line["schema"] != "3"]
    trials = {line["trial"]: line for line in today}
    rows: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for line in today:
        rows.setdefault(tuple(line[key] for key in OLD_KEY), set()).add(tuple(line[key] for key in NEW_KEY))
    found = []
    for path, number, line in places:
        if line["schema"] == "3":
            choices = rows.get(tuple(line[key] for key in OLD_KEY), set())
            if line["trial"] in trials:
                line = {**line, **{column: trials[line["trial"]][column] for column in READ["3"]}}
            elif len(choices) == 1:
                line = {**line, **dict(zip(NEW_KEY, next(iter(choices)), strict=True))}
            elif choices:
                raise DataError(
                    f"{line['model']} on {line['task']}, seed {line['seed']}: a table of schema 3 does not say which "
                    f"of {len(choices)} rows of that name it is of; write it anew with blurb rescore.",
                    path, number,
                )  # fmt: skip
        found.append((path, number, line))
    return found


def _check_target(target: Path, found: Mapping[tuple[str, ...], Place]) -> None:
    """Nothing is written over a table that has more than what is being merged."""
    tables.check_schema(target, COLUMNS)
    if not target.exists():
        return
    there = {(line["model"], line["task"], line["trial"]) for _, _, line in found.values()}
    for number, line in results_csv.read_lines(target):
        if (line["model"], line["task"], line["trial"]) not in there:
            raise DataError(
                f"the table holds {line['model']} on {line['task']}, seed {line['seed']}, which is in none of the "
                "files and would be lost; name it among the files too, or give another folder with --out.",
                target, number,
            )  # fmt: skip
