"""`results.csv`, the long table: one line for each model, dataset, seed, split and metric."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from blurb import metrics, tasks
from blurb.grouping import by_key
from blurb.messages import FIRST, DataError, ErrorCollector
from blurb.results import schema
from blurb.results.row import Origin, Row, label_rows
from blurb.results.schema import KEY, Line, Numbered
from blurb.results.score import LIMITS, PLUGINS, SETTINGS, DatasetScores, Figure, Run, in_order
from blurb.system.files import writing_whole
from blurb.table_files import FileLine, head_of

BEFORE = ("schema", *KEY, "plan", *SETTINGS, *LIMITS, PLUGINS, "task", "type", "seed", "planned")
AFTER = ("data", "data_hash", "metrics_version", "family", "trial")
"""The columns to the left and to the right of those in which the lines of a run differ."""
COLUMNS = (*BEFORE, "split", "metric", "value", "majority", *AFTER)
RUN = (*KEY, "task", "seed", "split", "metric")
"""The columns that identify a line."""
ALIKE = (*SETTINGS, *LIMITS, PLUGINS, "family", "data_hash", "metrics_version")
"""The columns that must be equal for seeds of a dataset to be averaged."""
MADE = ALIKE[:-2]
"""Those of them that must be equal even in merged tables."""
WHOLE = re.compile("[0-9]{1,18}")
"""A seed, or a number of runs or examples. `str.isdigit` takes superscripts, and `int` no thousands of digits."""


def read_lines(
    path: Path, errors: ErrorCollector = FIRST, columns: Sequence[str] = MADE
) -> list[Numbered]:
    """The lines of a table that are valid.

    :param errors: gets what is wrong (file, line); by default the first fault is raised
    :param columns: in which seeds of a dataset must be alike
    """
    if "metric" not in head_of(path)[0]:
        errors.add(
            DataError(
                "not a results.csv, as the column 'metric' is missing. (A leaderboard.csv has no runs.)",
                path,
                1,
            )
        )
        return []
    seen: dict[tuple[str, ...], FileLine] = {}
    lines = []
    for at, line in schema.read_lines(path, COLUMNS, errors):
        with errors:
            lines.append((at, _checked_line(at, line, seen)))
    check_alike(lines, columns, errors)
    return lines


def read(path: Path) -> list[Row]:
    """The rows of a table; DataError (file, line) if something is invalid."""
    return rows(line for _, line in read_lines(path))


def check_alike(
    lines: Iterable[Numbered], columns: Sequence[str], errors: ErrorCollector = FIRST
) -> None:
    """A DataError that names two lines wherever seeds of one row differ in one of the columns."""
    first: dict[tuple[str, ...], Numbered] = {}
    for at, line in lines:
        before, other = first.setdefault(tuple(line[key] for key in (*KEY, "task")), (at, line))
        differing = [column for column in columns if other[column] != line[column]]
        if differing:
            hint = (
                " Run blurb rescore on the older one." if differing == ["metrics_version"] else ""
            )
            errors.add(
                at.error(
                    f"{line['model']} on {line['task']}: cannot average seed {line['seed']} and seed {other['seed']} "
                    f"in {before.path}:{before.number}, as they differ in {', '.join(differing)}.{hint}"
                )
            )


def _checked_line(at: FileLine, line: Line, seen: dict[tuple[str, ...], FileLine]) -> Line:
    """The line of a run; DataError if it occurs twice, or a split or number is invalid."""
    first = seen.setdefault(tuple(line[column] for column in RUN), at)
    if first is not at:
        raise at.error(
            f"same model, task, seed, split and metric as line {first.number}", "remove one."
        )
    if line["split"] not in tasks.SCORED:
        raise at.error(f"split must be {' or '.join(tasks.SCORED)} (got {line['split'][:20]!r}).")
    schema.score(line["value"], "value", at, line["task"], line["metric"])
    schema.check_per_dataset_cell(line["plan"], at)
    if line["majority"]:
        schema.score(line["majority"], "majority", at, line["task"], line["metric"])
    for column in ("seed", "planned", *LIMITS):
        if not (WHOLE.fullmatch(line[column]) or (column in LIMITS and not line[column])):
            raise at.error(f"{column} must be a whole number (got {line[column][:20]!r}).")
    return line


def rows(lines: Iterable[Line]) -> list[Row]:
    """Groups lines into rows, in the order of the lines."""
    complete = []
    for of_row in by_key((tuple(line[column] for column in KEY), line) for line in lines).values():
        by_task = by_key((line["task"], line) for line in of_row)
        there = {task: _dataset_of_lines(task, of_task) for task, of_task in by_task.items()}
        completed = schema.completed(there, [line["plan"] for line in of_row])
        complete.append(
            Row(**schema.identity(of_row[0]), datasets=completed, origin=Origin.RESULTS)
        )
    return label_rows(complete)


def _dataset_of_lines(task: str, lines: Sequence[Line]) -> DatasetScores:
    # The first in the table if the task or its metric is not installed here.
    known = metrics.known(next((each.metric for each in tasks.all() if each.name == task), ""))
    seeds = by_key((int(line["seed"]), line) for line in lines)
    return DatasetScores(
        task,
        type=lines[0]["type"],
        metric=lines[0]["metric"] if known is None else known.main,
        runs={seed: _run_of_lines(of_seed) for seed, of_seed in seeds.items()},
        planned=max(int(line["planned"]) for line in lines),
    )


def _run_of_lines(lines: Sequence[Line]) -> Run:
    figures: dict[tasks.Split, dict[str, Figure]] = {}
    for line in lines:
        majority = float(line["majority"]) if line["majority"] else None
        of_split = figures.setdefault(line["split"], {})  # type: ignore[arg-type]
        of_split[line["metric"]] = Figure(float(line["value"]), majority)
    first = lines[0]
    return Run(
        figures=figures,
        verdict=first["data"],
        data_hash=first["data_hash"],
        metrics_version=first["metrics_version"],
        settings={column: first[column] for column in (*SETTINGS, *LIMITS, PLUGINS)},
        family=first["family"],
        trial=first["trial"],
    )


def write(path: Path, rows: Iterable[Row]) -> None:
    """Writes the table of rows, with datasets in the paper's order.

    Line by line, as a store of many trials has more of them than memory should; most cells are those of the line
    before, so they are put together once for all lines of a run.
    """
    with writing_whole(path) as aside, aside.open("w", encoding="utf-8", newline="") as file:
        file.write(f"{schema.joined(COLUMNS)}\n")
        for row in rows:
            file.writelines(_text_of(row))


def _text_of(row: Row) -> Iterator[str]:
    """The lines of a row."""
    names: dict[tuple[str, str], str] = {}
    for made, run in _runs_of(row):
        before, after = (
            schema.joined([made.get(name, "") for name in part]) for part in (BEFORE, AFTER)
        )
        for split, figures in run.figures.items():
            for metric, figure in figures.items():
                if (split, metric) not in names:
                    names[split, metric] = schema.joined((split, metric))
                majority = "" if figure.majority is None else f"{figure.majority:.4f}"
                yield f"{before},{names[split, metric]},{figure.value:.4f},{majority},{after}\n"


def _runs_of(row: Row) -> Iterator[tuple[Line, Run]]:
    """The runs of a row in the order of the table, each with the cells that all its lines have."""
    common = {"schema": schema.SCHEMA, **schema.identity_columns(row), "plan": schema.plan_of(row)}
    synthetic = row.data == "synthetic"
    for name, dataset in in_order(row.datasets):
        for seed, run in sorted(dataset.runs.items()):
            columns = {
                **run.settings,
                "task": name,
                "type": dataset.type,
                "seed": str(seed),
                "planned": str(dataset.planned),
                "data": "synthetic" if synthetic else run.verdict,
                "data_hash": run.data_hash,
                "metrics_version": run.metrics_version,
                "family": run.family,
                "trial": run.trial,
            }
            yield {**common, **columns}, run
