"""Shared by both tables: the schema version of their columns, the checks of every line that is read, and safe cells.

docs/csv.md describes the columns.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from blurb.messages import FIRST, DataError, ErrorCollector, escape_controls
from blurb.results.row import Row
from blurb.results.score import DatasetScores, in_order
from blurb.store.record import admits_figure
from blurb.store.store import CONVERT, UPDATE
from blurb.store.trial import Configuration
from blurb.system.files import write_whole
from blurb.table_files import FileLine, missing_columns, table_of

SCHEMA = "1"
BEFORE = ("3", "4", "5", "6", "7")
"""The numbers that tables had before; none of them comes back, so that an old table is told from a newer one."""
MODEL = ("model", "weights", "tokenizer", "learner", "recipe")
ASKED = ("protocol", "protocol_hash", "overrides", "precision")
KEY = ("suite", *MODEL, *ASKED)
"""The columns that identify a row, in the order of `Row.identity`."""
Line = dict[str, str]
Numbered = tuple[FileLine, Line]
"""Where a line stands, and its cells by column."""


def read_lines(
    path: Path, columns: Sequence[str], errors: ErrorCollector = FIRST
) -> list[Numbered]:
    """The lines of a table; DataError (file, line) if its schema cannot be read.

    :param columns: columns that it must have
    """
    present, rows = table_of(path, errors, needed=("schema",), noun="table of blurb")
    if "schema" not in present:
        return []
    version = rows[0][1].get("schema", "") if rows else SCHEMA
    if version != SCHEMA:
        end = "" if schema_remedy(version) else "."
        what = f"schema version {version or 'none'}, but this version of blurb reads {SCHEMA}{end}"
        errors.add(rows[0][0].error(what, schema_remedy(version)))
        return []
    missing = [column for column in columns if column not in present]
    if missing:
        errors.add(missing_columns(missing, path))
        return []
    if not rows:
        errors.add(DataError("the table has no rows.", path))
    for at, line in rows:
        if line["schema"] != version:
            errors.add(
                at.error(f"schema version {line['schema'] or 'none'} among rows of {version}.")
            )
    return [
        (at, {key: undo_neutral(cell) for key, cell in line.items()})
        for at, line in rows
        if line["schema"] == version
    ]


def schema_remedy(version: str) -> str:
    """Advice for a table of another schema version; "" if the cell is no version."""
    return CONVERT if version in BEFORE else UPDATE if version.isdecimal() else ""


def number(text: str, column: str, at: FileLine) -> float:
    """A cell as a number; DataError (file, line) if it is not one."""
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise at.error(f"{column} must be a number (got {text[:20]!r}).")
    return value


def score(text: str, column: str, at: FileLine, task: str = "", metric: str = "") -> float:
    """A cell as a figure times 100; DataError (file, line) if there can be no such figure.

    :param task: whose metric says what there can be; without it a score of any metric
    """
    value = number(text, column, at)
    if not (admits_figure(task, metric, value, in_tables=True) if task else abs(value) <= HIGHEST):
        raise at.error(f"{column} cannot be {value:g}, which is outside the range of the metric.")
    return value


NUMBER = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?\s*", re.ASCII)
"""Python's `float` takes the digits of all scripts and `8_0`, too."""
HIGHEST = 100 + 1e-4
"""The greatest score, times 100, with what a rounded one may be beyond it."""


def configuration(line: Line) -> Configuration:
    """The configuration in a line."""
    overrides: dict[str, str] = {}
    for word in line["overrides"].split(" ") if line["overrides"] else ():
        key, separator, value = word.partition("=")
        last = next(reversed(overrides), None)
        # A value may have blanks and options of its own: `head=bilstm, layers = 2`.
        if last is None or (separator and key.isidentifier() and not overrides[last].endswith(",")):
            overrides[key] = value
        else:
            overrides[last] += f" {word}"
    return Configuration(
        line["protocol"], line["protocol_hash"], overrides, line["precision"], line["suite"]
    )


def identity(line: Line) -> dict[str, Any]:
    """The fields of a `Row` that a line has in `KEY`."""
    return {"configuration": configuration(line), **{column: line[column] for column in MODEL}}


def identity_columns(row: Row) -> Line:
    """The cells of `KEY`; the learner of published rows is empty."""
    if row.published:
        return {"suite": row.suite, "model": row.model}
    return dict(zip(KEY, row.identity, strict=True))


FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters of formulas in spreadsheets; a model name could contain a formula."""


def joined(cells: Sequence[str]) -> str:
    """Cells as a part of a line, `neutral` and in quotes where they must be; at least two.

    >>> joined(["a", "c,d", ""])
    'a,"c,d",'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow([neutral(cell) for cell in cells])
    return text.getvalue()


def neutral(cell: str) -> str:
    """A cell that no spreadsheet executes: text that looks like a formula gets an apostrophe, numbers do not.

    One more, if it has some already, so that `undo_neutral` gives back what was there.
    """
    return (
        f"'{cell}" if cell.lstrip("'").startswith(FORMULA) and not NUMBER.fullmatch(cell) else cell
    )


def undo_neutral(cell: str) -> str:
    """Undoes `neutral`; characters that would command a terminal become escapes for good."""
    cell = cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(FORMULA) else cell
    return escape_controls(cell).replace("\n", "\\n")


def write(path: Path, columns: Sequence[str], lines: Sequence[Line]) -> None:
    """Writes lines by column name; missing values become empty cells."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({column: neutral(cell) for column, cell in line.items()} for line in lines)
    write_whole(path, text.getvalue().encode())


PART = re.compile(r"[^\s:]+:[1-9][0-9]{0,8}")


def plan_of(row: Row) -> str:
    """The plan of a row; "" for numbers without one."""
    return cell_of({name: one.planned for name, one in in_order(row.datasets) if one.planned})


def cell_of(values: Mapping[str, object]) -> str:
    """A cell of a value per dataset.

    >>> cell_of({"gad": 3, "hoc": 3})
    'gad:3 hoc:3'
    """
    return " ".join(f"{name}:{value}" for name, value in values.items())


def per_dataset(row: Row, value: Callable[[DatasetScores], str | None]) -> str:
    """`1` if all datasets with a score have that value, else the value per dataset: `bc2gm:2000 jnlpba:2000`."""
    values = {
        name: value(one) or "" for name, one in in_order(row.datasets) if one.mean() is not None
    }
    if len(set(values.values())) == 1:
        return next(iter(values.values()))
    return cell_of({name: known for name, known in values.items() if known})


def value_of(cell: str, task: str) -> str:
    """The value of a dataset in a cell of `per_dataset`; "" if it has none."""
    return cell if ":" not in cell else parts(cell).get(task, "")


def parts(cell: str) -> dict[str, str]:
    """Dataset -> value of a cell."""
    return dict(part.rpartition(":")[::2] for part in cell.split())


def planned_seeds(cell: str) -> dict[str, int]:
    """Dataset -> number of planned seeds."""
    return {name: int(count) for name, count in parts(cell).items()}


def check_per_dataset_cell(cell: str, at: FileLine, column: str = "plan") -> None:
    """Raises a DataError (file, line) if a cell of numbers per dataset cannot be read."""
    for part in cell.split():
        if not PART.fullmatch(part):
            raise at.error(
                f"{column} must have a number per dataset, such as gad:3 (got {part[:20]!r})."
            )
    if len(parts(cell)) < len(cell.split()):
        raise at.error(f"{column} names a dataset twice (got {cell[:60]!r}).")


def most_planned(cells: Iterable[str]) -> dict[str, int]:
    """The plan of several lines of one row, which machines may have planned separately: the most seeds of each."""
    plans: dict[str, int] = {}
    for cell in dict.fromkeys(cells):
        for name, count in planned_seeds(cell).items():
            plans[name] = max(plans.get(name, 0), count)
    return plans


def completed(there: Mapping[str, DatasetScores], cells: Iterable[str]) -> dict[str, DatasetScores]:
    """The datasets with those that were planned and have no run; of each the most seeds that any line plans."""
    planned = most_planned(cells)
    return {
        **{
            name: replace(one, planned=max(one.planned, planned.get(name, 0)))
            for name, one in there.items()
        },
        **{
            name: DatasetScores(name, planned=count)
            for name, count in planned.items()
            if name not in there
        },
    }
