"""Shared by both tables: the schema version of their columns, and the checks of every line that is read.

docs/csv.md describes the columns.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from pathlib import Path

from blurb.messages.errors import DataError
from blurb.results import csv_files
from blurb.results.row_scores import RowScores
from blurb.store.record import admits_in_tables
from blurb.store.schema import CONVERT, UPDATE
from blurb.store.trial import Configuration
from blurb.system.files import write_whole

SCHEMA = "1"
BEFORE = ("3", "4", "5", "6", "7")
"""The numbers that tables had before; none of them comes back, so that an old table is told from a newer one."""
MODEL = ("model", "weights", "tokenizer", "learner", "recipe")
ASKED = ("protocol", "protocol_hash", "overrides", "precision")
KEY = ("suite", *MODEL, *ASKED)
"""The columns that identify a row, in the order of `RowScores.identity`."""
Line = dict[str, str]
Numbered = tuple[int, Line]
"""Line number and cells by column."""


def read_lines(path: Path, columns: Sequence[str]) -> list[Numbered]:
    """Line number and cells of every line of a table; DataError (file, line) if its schema cannot be read.

    :param columns: columns that it must have
    """
    there, lines = csv_files.read(path)
    version = (lines[0][1].get("schema") or "") if lines else SCHEMA
    if version != SCHEMA:
        end = "" if remedy(version) else "."
        what = f"schema version {version or 'none'}, but this version of blurb reads {SCHEMA}{end}"
        raise DataError(what, path, lines[0][0], fix=remedy(version))
    missing = [column for column in columns if column not in there]
    if missing:
        raise DataError(f"missing columns: {', '.join(missing)}.", path, 1)
    if not lines:
        raise DataError("the table has no rows.", path)
    for number, line in lines:
        if None in line or None in line.values():
            raise DataError(f"expected {len(there)} cells.", path, number)
        if line["schema"] != version:
            raise DataError(f"schema version {line['schema'] or 'none'} among rows of {version}.", path, number)
    return [(number, {key: csv_files.original(cell) for key, cell in line.items()}) for number, line in lines]


def remedy(version: str) -> str:
    """What to do with a table of another schema version; "" with one that is no version."""
    return CONVERT if version in BEFORE else UPDATE if version.isdecimal() else ""


def number(text: str, column: str, path: Path, line: int) -> float:
    """A cell as a number; DataError (file, line) if it is not one."""
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise DataError(f"{column} must be a number (got {text[:20]!r}).", path, line)
    return value


def score(text: str, column: str, path: Path, line: int, task: str = "", metric: str = "") -> float:
    """A cell as a figure times 100; DataError (file, line) if there can be no such figure.

    :param task: whose metric says what there can be; without it a score of any metric
    """
    value = number(text, column, path, line)
    if not (admits_in_tables(task, metric, value) if task else abs(value) <= HIGHEST):
        raise DataError(f"{column} cannot be {value:g}, which is outside the range of the metric.", path, line)
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
    hash_ = line["protocol_hash"]
    return Configuration(line["protocol"], hash_, overrides, line["precision"], line["suite"])


def identity_columns(row: RowScores) -> Line:
    """The cells of `KEY`; the learner of published rows is empty."""
    if row.published:
        return {"suite": row.suite, "model": row.model}
    return dict(zip(KEY, row.identity, strict=True))


def write(path: Path, columns: Sequence[str], lines: Sequence[Line]) -> None:
    """Writes lines by column name; missing values become empty cells."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({column: csv_files.neutral(cell) for column, cell in line.items()} for line in lines)
    write_whole(path, text.getvalue().encode())
