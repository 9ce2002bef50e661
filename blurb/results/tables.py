"""`results.csv` and `leaderboard.csv` of a store, rebuilt from the store and `external.csv`; by default in its folder.

Numbers are times 100 with two decimals (four in `results.csv`); a missing value is an empty cell. The tables do not
depend on when or where a trial ran, so an interrupted and an uninterrupted run give identical files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from blurb.grouping import by_key
from blurb.messages import DataError, StoreError, Tell, opt, tell_damage
from blurb.results import from_store, leaderboard_csv, published, results_csv
from blurb.results.row import Published, Row
from blurb.results.schema import (
    KEY,
    SCHEMA,
    Numbered,
    cell_of,
    most_planned,
    schema_remedy,
    undo_neutral,
)
from blurb.store import row_trials
from blurb.store.store import SCHEMA_FILE, Store
from blurb.store.trial import short_weights
from blurb.system import leases
from blurb.system.files import read_json, remove_forgotten, write_json
from blurb.table_files import head_of, table_of

DEFAULT = "leaderboard.csv"


def place(store: Path | str, leaderboard: Path | str | None) -> Path:
    """The wide table that a command writes: in the store, unless one is named."""
    return Path(store) / DEFAULT if leaderboard is None else Path(leaderboard)


def results_beside(leaderboard: Path) -> Path:
    """The long table of a wide one: `results.csv` for `leaderboard.csv`, `mine-results.csv` for `mine.csv`."""
    if leaderboard.name == DEFAULT:
        return leaderboard.with_name("results.csv")
    return leaderboard.with_name(f"{leaderboard.stem}-results.csv")


def rebuild(store: Store, leaderboard: Path, tell: Tell = tell_damage) -> list[Row]:
    """Writes `leaderboard` and its long table in the same folder; returns the rows of the store.

    :param tell: receives messages about damage in the store; damaged trials are left out
    :raises StoreError: if a file has another schema version or belongs to another store; then nothing is written
    """
    folder = leaderboard.parent
    folder.mkdir(parents=True, exist_ok=True)
    while True:
        # A process that slept has lost its lease: what it read may be old.
        with writing(folder) as lease, suppress(leases.Lost):
            others = check(store, leaderboard)
            rows = from_store.read(store, tell)
            lease.check()
            results_csv.write(results_beside(leaderboard), rows)
            leaderboard_csv.write(leaderboard, [*rows, *others])
            noted, own = _noted_owner(folder), _store_place(store, leaderboard)
            if own not in (HERE, noted.get(leaderboard.name)):
                write_json(folder / NOTE, {**noted, leaderboard.name: own})
            return rows


@contextmanager
def writing(folder: Path) -> Iterator[leases.Lease]:
    """The lease to hold while tables are made and put into a folder.

    Each file is replaced atomically, so that none is ever half there. The lease puts reading and writing of several
    processes one after the other: the last tables have all that was finished before them, and both are of one state.
    """
    path = folder / ".blurb-tables.lease"
    with leases.held(path) as lease:
        # The note is rarely rewritten, which would remove what kills left behind.
        with suppress(OSError):
            remove_forgotten(folder / NOTE, path.stat().st_mtime)
        yield lease


def check(store: Store, leaderboard: Path) -> list[Published]:
    """The rows of `external.csv`; StoreError or DataError if the tables could not be written.

    Does not write anything.
    """
    if leaderboard.name in ("results.csv", "external.csv"):
        raise StoreError(
            f"{opt('leaderboard')} cannot be {leaderboard.name}, a name that blurb uses itself",
            fix="choose another.",
        )
    results = results_beside(leaderboard)
    check_schema(leaderboard, leaderboard_csv.COLUMNS)
    check_schema(results, results_csv.COLUMNS)
    check_owner(store, leaderboard, results)
    return external(leaderboard)


def external(leaderboard: Path) -> list[Published]:
    """The rows of `external.csv` in the folder of a leaderboard; DataError (file, line) if it is invalid."""
    path = leaderboard.with_name("external.csv")
    return published.read(path) if path.exists() else []


def check_schema(path: Path, columns: Sequence[str], option: str = opt("leaderboard")) -> None:
    """Raises a StoreError if the file exists but has another schema version, or is the other of the two tables.

    :param option: option to choose another place, for the message
    """
    if not path.exists():
        return
    if not path.is_file():
        raise StoreError(
            f"{path} is a folder, a pipe or a device and no table", fix=f"choose another {option}."
        )
    try:
        present, line = head_of(path)
        version = ((line.get("schema") if line else SCHEMA) or "") if "schema" in present else ""
    except DataError:
        present, version = (), ""
    if version != SCHEMA:
        raise StoreError(
            f"{path} has schema version {version or 'none'}, but this version of blurb writes {SCHEMA}. "
            "It was not changed",
            fix=schema_remedy(version) or f"choose another {option}, or move it away.",
        )
    if ("metric" in present) != ("metric" in columns):
        kind = "a table of runs" if "metric" in present else "no table of runs"  # perhaps cut
        raise StoreError(
            f"{path} is {kind} and was not changed",
            fix=f"choose another {option}, or move it away.",
        )


NOTE = ".blurb-tables.json"
"""File with leaderboard -> store, both as paths relative to the folder of the tables."""
HERE = "."
"""The place of a store that has the tables in its folder."""


def check_owner(store: Store, leaderboard: Path, results: Path) -> None:
    """Raises a StoreError if the tables belong to another store, whose rows would be lost."""
    noted = _noted_owner(leaderboard.parent).get(leaderboard.name)
    if _store_place(store, leaderboard) in (HERE, noted):
        return
    other = leaderboard.parent / noted if noted else None
    if (
        other is not None
        and any(other.glob("*/*/*/spec.json"))
        and (leaderboard.exists() or results.exists())
    ):
        reason = f"they belong to the store {other}"
    elif foreign := _first_foreign(store, leaderboard, results):
        reason = f"they have {foreign}, which is not in {store.root}"
    else:
        return
    raise StoreError(
        f"{leaderboard} and {results.name} do not belong to the store {store.root}: {reason}. They were not changed",
        fix=f"choose another {opt('leaderboard')}, or move them away.",
    )


def forget_owner(leaderboard: Path) -> None:
    """Removes the record of the tables, which then belong to a store only if it has all their rows and trials.

    The caller holds the lease of the tables.
    """
    noted = _noted_owner(leaderboard.parent)
    if noted.pop(leaderboard.name, None) is not None:
        write_json(leaderboard.parent / NOTE, noted)


def _noted_owner(folder: Path) -> dict[str, str]:
    try:
        return {str(name): str(place) for name, place in read_json(folder / NOTE).items()}
    except StoreError:  # not there, or damaged: as if nothing were known
        return {}


def _store_place(store: Store, leaderboard: Path) -> str:
    return os.path.relpath(store.root.resolve(), leaderboard.parent.resolve())


def _first_foreign(store: Store, leaderboard: Path, results: Path) -> str:
    """The first row or trial of the tables that is not in the store; "" if all are."""
    rows = row_trials.read(store, lambda text: None)
    trials = {
        (row.model, hash_)
        for row in rows
        for seeds in row.trials.values()
        for hash_ in seeds.values()
    }
    models = {(row.model, short_weights(row.weights)) for row in rows}
    for line in _lines_with_columns(results, "model", "task", "seed", "trial"):
        here = store.path(line["model"], line["task"], line["trial"])
        if (line["model"], line["trial"]) not in trials and not here.exists():
            return f"{line['model']} on {line['task']}, seed {line['seed']}"
    for line in _lines_with_columns(leaderboard, "model", "weights", "source"):
        if not line["source"] and (line["model"], line["weights"]) not in models:
            return f"the row {line['model']}"
    return ""


def _lines_with_columns(path: Path, *columns: str) -> list[dict[str, str]]:
    """These columns of a table; no lines if the file does not exist."""
    if not path.exists():
        return []
    return [
        {column: undo_neutral(line[column]) for column in columns}
        for _, line in table_of(path, needed=columns).rows
    ]


def merge(paths: Sequence[Path], folder: Path) -> int:
    """Writes `results.csv` and `leaderboard.csv` into `folder`; returns the number of lines.

    Identical lines of several files are merged. The tables then belong to no store, and numbers in an `external.csv` of
    the folder stay in its leaderboard.

    :raises DataError: naming both files and lines, if lines contradict, or seeds of one row cannot be averaged
    :raises StoreError: if the folder is a store, or has tables of another schema
    """
    if (folder / SCHEMA_FILE).exists():
        raise StoreError(
            "is a store, whose tables are its own",
            where=folder,
            fix=f"choose another {opt('out')} folder.",
        )
    places, merged = lines_of(paths)
    folder.mkdir(parents=True, exist_ok=True)
    results, leaderboard = folder / "results.csv", folder / DEFAULT
    with writing(folder):
        check_schema(results, results_csv.COLUMNS, f"{opt('out')} folder")
        check_schema(leaderboard, leaderboard_csv.COLUMNS, f"{opt('out')} folder")
        there = {(line["model"], line["task"], line["trial"]) for _, line in merged.values()}
        for at, line in results_csv.read_lines(results) if results.exists() else ():
            if (line["model"], line["task"], line["trial"]) not in there:
                raise at.error(
                    f"the table has {line['model']} on {line['task']}, seed {line['seed']}, which is in none of the "
                    "given files and would be lost",
                    f"add this table to the files, or choose another {opt('out')} folder.",
                )
        numbers = external(leaderboard)
        rows = results_csv.rows(_lines_as_planned(places, merged))
        # The store that wrote these tables before must not write over the merged ones.
        forget_owner(leaderboard)
        results_csv.write(results, rows)
        leaderboard_csv.write(leaderboard, [*rows, *numbers])
    return len(merged)


def lines_of(paths: Sequence[Path]) -> tuple[list[Numbered], dict[tuple[str, ...], Numbered]]:
    """All lines of several files with their places, and each run once.

    :raises DataError: naming both files and lines, if lines contradict, or seeds of one row cannot be averaged
    """
    places = [numbered for path in paths for numbered in results_csv.read_lines(path)]
    merged: dict[tuple[str, ...], Numbered] = {}
    for place in places:
        at, line = place
        before, other = merged.setdefault(tuple(line[column] for column in results_csv.RUN), place)
        if differing := [
            c for c in results_csv.COLUMNS if c not in ("planned", "plan") and other[c] != line[c]
        ]:
            raise at.error(
                f"{line['model']} {line['task']} seed {line['seed']} {line['split']} {line['metric']}: "
                f"{', '.join(differing)} differs from {before.path}:{before.number}",
                "remove one of these lines.",
            )
    results_csv.check_alike(merged.values(), results_csv.ALIKE)
    return places, merged


def _lines_as_planned(
    places: Sequence[Numbered], merged: Mapping[tuple[str, ...], Numbered]
) -> Iterator[dict[str, str]]:
    """The merged lines, with the largest number of planned seeds in any file for their dataset, and all plans.

    Of all places: a machine may have been asked for fewer seeds than another.
    """
    lines = [(tuple(line[column] for column in KEY), line) for _, line in places]
    plans = by_key((row, line["plan"]) for row, line in lines)
    counts = by_key(((*row, line["task"]), int(line["planned"])) for row, line in lines)
    plan = {row: cell_of(most_planned(cells)) for row, cells in plans.items()}
    for _, line in merged.values():
        row = tuple(line[column] for column in KEY)
        yield {**line, "planned": str(max(counts[*row, line["task"]])), "plan": plan[row]}
