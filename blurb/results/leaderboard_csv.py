"""`leaderboard.csv`, the wide table: one line per row, with the score, the means, and a column per dataset."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from blurb.learners import row_name
from blurb.messages import FIRST, ErrorCollector
from blurb.results import schema
from blurb.results.row import Origin, Published, Row, label_rows
from blurb.results.schema import ASKED, KEY, MODEL, Line, Numbered
from blurb.results.score import DATASETS, DatasetScores, in_order
from blurb.statistics.welch import t_critical
from blurb.table_files import FileLine
from blurb.tasks import TWELVE, TYPES

SCORES = ("score", "score_sd", "score_low", "score_high")
FACTS = ("max_eval", "metrics_version")
"""The columns with a value per dataset."""
STATE = ("seeds", "plan", "complete", "data", *FACTS, "plugins", "note")
COLUMNS = (
    "schema",
    "suite",
    "model",
    "source",
    *ASKED,
    *MODEL[1:],
    *SCORES,
    TWELVE,
    *TYPES,
    *DATASETS,
    *STATE,
)
"""The fixed columns; those of one's own tasks follow."""
NUMBERS = (*DATASETS, *TYPES, TWELVE, *SCORES)
LOWEST, HIGHEST = -100 / 6, 100.0
"""The range of the score: of its six means, that of the correlations may be negative."""


def read_lines(path: Path, errors: ErrorCollector = FIRST) -> list[Numbered]:
    """The lines of a table; DataError (file, line) if something is invalid."""
    return schema.read_lines(path, COLUMNS, errors)


def rows(lines: Iterable[Numbered], errors: ErrorCollector = FIRST) -> list[Row]:
    """Rows with their means on test, without runs.

    :param errors: gets the lines (file, line) of a row that occurs twice or has an invalid number
    """
    seen: dict[tuple[str, ...], FileLine] = {}
    rows = []
    for at, line in lines:
        with errors:
            rows.append(_row_of_line(at, line, seen))
    return label_rows(rows)


def _row_of_line(at: FileLine, line: Line, seen: dict[tuple[str, ...], FileLine]) -> Row:
    first = seen.setdefault(tuple(line[column] for column in (*KEY, "source")), at)
    if first is not at:
        raise at.error(f"duplicate of line {first.number}", "remove one.")
    own = [column for column in line if column not in COLUMNS]
    values = {
        column: schema.score(line[column], column, at)
        for column in (*NUMBERS, *own)
        if line[column]
    }
    schema.check_per_dataset_cell(line["plan"], at)
    if not re.fullmatch("[0-9]{0,9}", line["max_eval"]):
        schema.check_per_dataset_cell(line["max_eval"], at, "max_eval")
    # What the line says of all of its datasets: `verified`, `synthetic`, or a list of what is not identical.
    data, plan = line["data"], schema.planned_seeds(line["plan"])
    doubts = dict(part.partition(" ")[::2] for part in data.split("; "))
    datasets = {}
    for name in (name for name in (*DATASETS, *own) if name in values):
        seeds = schema.value_of(line["seeds"], name)
        unsaid = data in ("", "not known", "synthetic")
        datasets[name] = DatasetScores(
            name,
            means={"test": values[name]},
            count=int(seeds) if re.fullmatch(r"[0-9]{1,9}", seeds) else 0,
            planned=plan.get(name, 0),
            facts={
                "verdict": "" if unsaid else doubts.get(name, "identical"),
                "plugins": line["plugins"],
                **{column: schema.value_of(line[column], name) for column in FACTS},
            },
        )
    row = {**schema.identity(line), "datasets": schema.completed(datasets, [line["plan"]])}
    row["configuration"] = replace(row["configuration"], note=line["note"])
    if not line["source"]:
        return Row(**row, origin=Origin.LEADERBOARD)
    # Numbers of `external.csv`, with the source, score and remarks that they have there.
    source, version = re.fullmatch(r"(.*?)(?: \((.*)\))?", line["source"], re.DOTALL).groups("")  # type: ignore[union-attr]
    return Published(
        **row | {"learner": row_name("")},
        remarks=(line["note"],) if line["note"] else (),
        source=source,
        version=version,
        printed=values.get("score"),
    )


def write(path: Path, rows: Iterable[Row]) -> None:
    """Writes the table of rows in the given order; those of suites other than BLURB's and demo have no line."""
    rows = [row for row in rows if row.has_means]
    schema.write(path, columns_of(rows), [line_of(row) for row in rows])


def columns_of(rows: Iterable[Row]) -> tuple[str, ...]:
    """The columns for these rows: the fixed ones, then their own tasks by name."""
    return (
        *COLUMNS,
        *sorted({name for row in rows for name in row.own_tasks if name not in COLUMNS}),
    )


def figures_of(row: Row) -> dict[str, float]:
    """The numbers of a row by column, with all their digits."""
    own = {name: mean for name, mean in row.means().items() if name not in COLUMNS}
    figures = {**row.blurb_means(), **row.overall_means(), **own}
    if row.score is not None and (spread := row.spread) is not None:
        freedom = spread.degrees_of_freedom
        half = 0.0 if freedom is None else t_critical(freedom) * spread.error
        low, high = (min(HIGHEST, max(LOWEST, end)) for end in (row.score - half, row.score + half))
        figures |= {"score_sd": spread.deviation, "score_low": low, "score_high": high}
    return figures


def line_of(row: Row) -> Line:
    """The line of a row, by column."""
    return {
        "schema": schema.SCHEMA,
        **schema.identity_columns(row),
        "source": row.edition if isinstance(row, Published) else "",
        **{name: f"{value:.2f}" for name, value in figures_of(row).items()},
        "seeds": _seeds_cell(row),
        "plan": schema.plan_of(row),
        "complete": "yes" if row.complete else "no",
        "data": row.data,
        "max_eval": schema.per_dataset(row, lambda one: str(one.limit("max_eval") or "")),
        "metrics_version": schema.per_dataset(
            row, lambda one: "/".join(sorted(one.known("metrics_version")))
        ),
        "plugins": " ".join(
            sorted({word for one in row.datasets.values() for word in (one.plugins or "").split()})
        ),
        "note": row.note,
    }


def _seeds_cell(row: Row) -> str:
    """`5` if all datasets have five seeds, else the number per dataset; "" without runs."""
    counts = (
        {}
        if row.published
        else {name: one.finished for name, one in in_order(row.datasets) if one.finished}
    )
    if len(set(counts.values())) <= 1:
        return str(next(iter(counts.values()), ""))
    return schema.cell_of(counts)
