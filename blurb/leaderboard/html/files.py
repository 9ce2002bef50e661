"""Rows from files: `results.csv` of other stores, published rows, tables of ablations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from blurb.analysis import ablation_tables
from blurb.errors import DataError
from blurb.leaderboard.html import intervals
from blurb.leaderboard.html.model import Ablation, Dataset, Entry, Value
from blurb.results import csv_files, merge, tables
from blurb.results.published import PublishedRow
from blurb.results.sides import MAIN, Side, read_lines
from blurb.results.tables import KEY

Line = dict[str, str]


def results(path: Path) -> list[Entry]:
    """Rows of a `results.csv`; DataError (file, line) if it is none of this schema."""
    groups: dict[tuple[str, ...], dict[str, list[Line]]] = {}
    for _, line in read_lines(path):
        if "metric" not in line:
            raise DataError("this is no results.csv: there is no column metric.", path, 1)
        key = tuple(line[column] for column in KEY)
        groups.setdefault(key, {}).setdefault(line["task"], []).append(line)
    return [_entry(key, rows) for key, rows in groups.items()]


def _entry(key: tuple[str, ...], rows: dict[str, list[Line]]) -> Entry:
    known, datasets, scores, versions = {}, {}, {}, {}
    for task, lines in rows.items():
        metric = MAIN.get(task, lines[0]["metric"])
        counting = [line for line in lines if line["metric"] == metric]
        runs = {
            split: {int(line["seed"]): float(line["value"]) for line in counting if line["split"] == split}
            for split in ("dev", "test")
        }
        if not runs["test"]:
            continue
        known[task] = intervals.of_runs(task, list(runs["test"].values()))
        majority = next((line["majority"] for line in counting if line["split"] == "test"), "")
        datasets[task] = Dataset(
            test=known[task].value,
            seeds=dict(sorted(runs["test"].items())),
            dev=math.fsum(runs["dev"].values()) / len(runs["dev"]) if runs["dev"] else None,
            majority=float(majority) if majority else None,
            metric=metric,
            data=lines[0]["data"],
        )
        scores[task] = runs["test"]
        versions[task] = ",".join(sorted({one["metrics_version"] for one in lines}))
    types, score = intervals.averages({task: one for task, one in known.items() if task in tables.NAMES})
    every = [line for lines in rows.values() for line in lines]
    suite, model = key[:2]
    detail = " ".join(filter(None, (every[0][column] for column in ("protocol", "overrides", "precision"))))
    data = {task: ",".join(sorted({line["data_hash"] for line in lines})) for task, lines in rows.items()}
    means = {task: one.value.mean for task, one in known.items()}
    doubts = [f"{task} {one.data}" for task, one in datasets.items() if one.data not in ("identical", "synthetic")]
    return Entry(
        kind="file", model=model, detail=detail, suite=suite, key=key, datasets=datasets, types=types, score=score,
        side=Side(f"{model} {detail}", means, scores, data=data, versions=versions, learner=every[0]["learner"]),
        runs=counted([len(one.seeds) for one in datasets.values()]), complete=set(tables.NAMES) <= set(datasets),
        notes=[note for note in (merge.note(every), *doubts) if note],
        capped=any(line["max_eval"] for line in every),
    )  # fmt: skip


def published(row: PublishedRow) -> Entry:
    """A published row: means without runs."""
    datasets = {task: Dataset(Value(score)) for task, score in row.scores.items()}
    known = {task: intervals.Known(one.test) for task, one in datasets.items()}
    types, _ = intervals.averages(known)
    return Entry(
        kind="published", model=row.model, detail=row.source, suite="blurb",
        key=("published", row.source, row.version, row.model), datasets=datasets, types=types,
        score=None if row.total is None else Value(row.total), side=Side(row.model, row.scores),
        runs=counted(list(row.runs.values())), complete=set(tables.NAMES) <= set(datasets),
        notes=[row.version, *row.notes],
    )  # fmt: skip


def counted(runs: Sequence[int]) -> str:
    """How many runs the datasets have: `5`, or `5 to 10`."""
    known = sorted({count for count in runs if count})
    return " to ".join(dict.fromkeys((str(known[0]), str(known[-1])))) if known else ""


def ablations(folder: Path) -> list[Ablation]:
    """The tables that `blurb ablate` wrote into a folder."""
    if not (paths := sorted(folder.rglob("*.csv"))):
        raise DataError("there are no CSV files; --ablations takes a folder that blurb ablate wrote.", folder)
    found = []
    for path in paths:
        lines = _cells(path)
        by_cell: dict[str, dict[str, Line]] = {}
        for line in lines:
            by_cell.setdefault(line["cell"], {})[line["task"]] = line
        model = next((line["model"] for line in lines if line["model"]), "")
        names = tuple(dict.fromkeys(line["task"] for line in lines))
        found.append(Ablation(lines[0]["axis"], model, names, tuple(by_cell.items())))
    return found


def _cells(path: Path) -> list[Line]:
    """Lines of a table of an ablation."""
    columns, found = csv_files.read(path)
    if missing := [column for column in ablation_tables.COLUMNS if column not in columns]:
        raise DataError(f"no table of blurb ablate: the columns {', '.join(missing)} are missing.", path, 1)
    if not found:
        raise DataError("the table has no rows.", path)
    for number, line in enumerate(found, 2):
        if None in line or None in line.values():
            raise DataError(f"expected {len(columns)} cells.", path, number)
        if line["schema"] != str(ablation_tables.SCHEMA):
            raise DataError(
                f"schema version {line['schema'] or 'none'}; this reads {ablation_tables.SCHEMA}.", path, number
            )
    return [{column: csv_files.original(cell) for column, cell in line.items()} for line in found]
