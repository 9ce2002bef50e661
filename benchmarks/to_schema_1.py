"""Rewrites stores and tables of before schema 1, once, and proves that every figure in them stays what it was.

    python -m benchmarks.to_schema_1 PLACE...     # stores, results.csv, leaderboard.csv

Of a table every cell that it had is compared with what was made of it, of a store every figure of every run. After any
difference nothing is replaced. A store stays beside the new one as `NAME.before`; of tables nothing is kept.
A leaderboard needs the `results.csv` beside it. A `results.csv` of schema 3 does not have all that one of today says,
which comes from its store, named in the same call; a leaderboard of schema 3 is made anew by blurb rescore, as its
intervals were computed otherwise.
"""

from __future__ import annotations

import csv
import math
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks import old_stores
from blurb.heads import heads, poolings
from blurb.learners import row_name
from blurb.messages.errors import BlurbError, StoreError
from blurb.results import from_store, leaderboard_csv, results_csv, schema, tables
from blurb.results.row import Row
from blurb.results.schema import BEFORE, KEY, SCHEMA, Line, undo_neutral, write as write_lines
from blurb.row_files.references import file_rows, table_rows
from blurb.store import store as of_stores
from blurb.store.store import Store
from blurb.table_files import head_of, table_of

NAMES = ("suite", "model", "weights", "protocol", "overrides", "precision")
"""What named a row in schema 3."""
RUN = (*NAMES, "task", "seed", "split", "metric")
NOT_COMPARED = ("schema", "note")
"""Notes are words of blurb, and those of schema 3 had numbers in them that a row has elsewhere now."""


def main(places: Sequence[Path]) -> None:
    """Converts stores first, as tables may need them, then long tables, then wide ones."""
    stores = [place for place in places if place.is_dir()]
    files = [place for place in places if not place.is_dir()]
    for root in stores:
        print(store(root))
    known = [row for root in stores for row in from_store.read(Store(root))]
    for path in sorted(files, key=lambda path: "metric" not in head_of(path)[0]):
        print(table(path, known))


def store(root: Path) -> str:
    """Converts a store; returns what is said of it."""
    if (root / of_stores.SCHEMA_FILE).exists():
        return f"{root}: has a schema already."
    aside, kept = root.with_name(f"{root.name}.new"), root.with_name(f"{root.name}.before")
    for path in (aside, kept):
        if path.exists():
            raise StoreError("is in the way; remove it.", where=path)
    try:
        shutil.copytree(root, aside, copy_function=old_stores.link, symlinks=True)
        told = old_stores.convert(aside)
        count = proven(old_stores.figures(root), aside)
        root.rename(kept)
        aside.rename(root)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    cut = [
        f"  {path} cut its pairs as no version does now; remove it and run it again."
        for path in told
    ]
    return "\n".join([f"{root}: {count:,} figures, all equal; as it was: {kept}", *cut])


def proven(before: Mapping[tuple[str, ...], float], root: Path) -> int:
    """The number of figures of a store; StoreError unless they are exactly these."""
    after = {
        (
            row.model,
            row.weights,
            row.configuration.text,
            task,
            str(seed),
            run.trial,
            split,
            metric,
        ): figure.value
        for row in from_store.read(Store(root), lambda error: None)
        for task, one in row.datasets.items()
        for seed, run in one.runs.items()
        for split, figures in run.figures.items()
        for metric, figure in figures.items()
    }
    if strange := before.keys() ^ after.keys():
        raise StoreError(
            f"{len(strange)} figures are in one of the two alone, such as {sorted(strange)[0]}",
            where=root,
        )
    for key, value in before.items():
        if not any(
            math.isclose(after[key], one, rel_tol=1e-12, abs_tol=1e-12)
            for one in (value, 100 * value)
        ):
            raise StoreError(f"{key} was {value} and is {after[key]}", where=root)
    return len(before)


def table(path: Path, known: Sequence[Row]) -> str:
    """Converts a table; returns what is said of it.

    :param known: rows of the stores, for tables of schema 3
    """
    columns, numbered = table_of(path)
    old = [{name: undo_neutral(cell or "") for name, cell in line.items()} for _, line in numbered]
    version = old[0].get("schema", "") if old else ""
    if version == SCHEMA:
        return f"{path}: has schema {SCHEMA} already."
    if version not in BEFORE:
        raise StoreError(
            f"schema version {version or 'none'}, which is of no table of before.", where=path
        )
    runs = "metric" in columns
    if version == "3" and not runs:
        raise StoreError(
            "a leaderboard of schema 3; move it away, and make it with blurb rescore", where=path
        )
    make = (
        _leaderboard if not runs else _runs if version != "3" else partial(_of_store, known=known)
    )
    new = make(path, old)
    own = (
        sorted({name for line in new for name in line} - set(leaderboard_csv.COLUMNS))
        if not runs
        else []
    )
    there = results_csv.COLUMNS if runs else (*leaderboard_csv.COLUMNS, *own)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        aside = Path(folder) / path.name
        write_lines(aside, there, new)
        count = compared(path, aside, RUN if runs else (*KEY, "source"))
        table_rows(aside)
        aside.replace(path)
    return f"{path}: schema {version}, {len(new):,} lines, {count:,} cells, all equal"


def compared(path: Path, aside: Path, key: Sequence[str]) -> int:
    """The number of cells of a table that are as they were; StoreError if one is not, or a line is lost or new."""
    with (
        path.open(encoding="utf-8", newline="") as one,
        aside.open(encoding="utf-8", newline="") as other,
    ):
        before, after = (
            {tuple(line.get(name, "") for name in key): line for line in csv.DictReader(file)}
            for file in (one, other)
        )
    if strange := before.keys() ^ after.keys():
        raise StoreError(
            f"{len(strange)} lines are in one of the two alone, such as {sorted(strange)[0]}",
            where=path,
        )
    count = 0
    for name, line in before.items():
        for column, cell in line.items():
            if column not in NOT_COMPARED:
                if after[name].get(column) != cell and not _is_added(column, cell):
                    raise StoreError(
                        f"{name}: {column} was {cell!r} and is {after[name].get(column)!r}",
                        where=path,
                    )
                count += 1
    return count


def _is_added(column: str, cell: str) -> bool:
    """Published rows and baselines had no learner in the first tables."""
    return column == "learner" and not cell


def _runs(path: Path, old: Sequence[Line]) -> list[Line]:
    """Lines of schemas 4 to 7, with the columns that they lack."""
    new: list[Line] = []
    for line in old:
        for column, registry in (("head", heads), ("pooling", poolings)):
            name = line[column].split(",")[0].strip()
            if "plugins" not in line and name and name not in registry.names():
                raise StoreError(
                    f"{column} {name} is a plug-in, of which the table has no hash", where=path
                )
        added = {"learner": row_name(line["weights"]), "plan": "", "plugins": "", "eval_seed": ""}
        new.append({**added, **line, "schema": SCHEMA})
    rows = {row.primary_key: schema.plan_of(row) for row in results_csv.rows(new)}
    return [
        {**line, "plan": line["plan"] or rows[tuple(line[name] for name in KEY)]} for line in new
    ]


def _leaderboard(path: Path, old: Sequence[Line]) -> list[Line]:
    """Lines of schemas 4 to 7; what rows lack comes from the long table beside this one."""
    beside = tables.results_beside(path)
    rows = (
        {row.primary_key: leaderboard_csv.line_of(row) for row in file_rows(beside)}
        if beside.is_file()
        else {}
    )
    new = []
    for line in old:
        whole = {
            "learner": "" if line["source"] else row_name(line["weights"]),
            **line,
            "schema": SCHEMA,
        }
        lacking = [name for name in leaderboard_csv.COLUMNS if name not in whole]
        key = tuple(whole[name] for name in KEY)
        if lacking and not line["source"] and key not in rows:
            raise StoreError(
                f"the row {line['model']} is not in {beside}, which has what the line lacks",
                where=path,
            )
        known = {} if line["source"] else rows.get(key, {})
        new.append({**{name: known.get(name, "") for name in lacking}, **whole})
    return new


def _of_store(path: Path, old: Sequence[Line], known: Sequence[Row]) -> list[Line]:
    """The lines of today for those of schema 3, by their store."""
    wanted = {tuple(line[name] for name in NAMES) for line in old}
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder) / "results.csv"
        results_csv.write(there, known)
        lines = [line for _, line in results_csv.read_lines(there)] if known else []
    new = [line for line in lines if tuple(line[name] for name in NAMES) in wanted]
    if not new:
        raise StoreError("schema 3: name the store of this table, too", where=path)
    return new


if __name__ == "__main__":
    try:
        main([Path(place) for place in sys.argv[1:]])
    except BlurbError as error:
        sys.exit(f"Error: {error}\nNothing of it was replaced.")
