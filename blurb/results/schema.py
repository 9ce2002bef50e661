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

from blurb.learners import row_name
from blurb.messages.errors import DataError
from blurb.results import csv_files
from blurb.results.row_scores import RowScores
from blurb.store.figures import admits_in_tables
from blurb.store.trial import Configuration
from blurb.system.files import write_whole

SCHEMA = 7
_PLAN = ("plan", "plugins")
_LATER = ("blurb-12", "eval_seed", *_PLAN)
READ = {
    "3": ("tokenizer", "recipe", "protocol_hash", "max_train", "max_eval", "family", *_LATER),
    "4": _LATER,
    "5": _LATER,
    "6": _PLAN,
    "7": (),
}
"""The readable schemas and the columns that each lacks in either table, whose values are then unknown. `learner` came
with 5, but is known for all: before, there were only baselines and fine-tuned encoders."""
MODEL = ("model", "weights", "tokenizer", "learner", "recipe")
ASKED = ("protocol", "protocol_hash", "overrides", "precision")
KEY = ("suite", *MODEL, *ASKED)
"""The columns that identify a row, in the order of `RowScores.identity`."""
Line = dict[str, str]
Numbered = tuple[int, Line]
"""Line number and cells by column."""


def read_lines(path: Path, columns: Sequence[str], later: Sequence[str] = ()) -> list[Numbered]:
    """Line number and cells of every line of a table; DataError (file, line) if its schema cannot be read.

    :param columns: columns of the current schema; those missing in older ones are empty
    :param later: columns that came to this table with the current schema
    """
    there, lines = csv_files.read(path)
    version = (lines[0][1].get("schema") or "none") if lines else str(SCHEMA)
    if version not in READ:
        raise DataError(f"schema version {version}; this version of blurb reads {', '.join(READ)}.", path, lines[0][0])
    lacking = (*READ[version], *(() if version == str(SCHEMA) else later))
    unknown = {column: "" for column in lacking if column in columns}
    if version in ("3", "4"):
        unknown["learner"] = ""
    missing = [column for column in columns if column not in (*there, *unknown)]
    if missing:
        raise DataError(f"missing columns: {', '.join(missing)}.", path, 1)
    if not lines:
        raise DataError("the table has no rows.", path)
    for number, line in lines:
        if None in line or None in line.values():
            raise DataError(f"expected {len(there)} cells.", path, number)
        if line["schema"] != version:
            raise DataError(f"schema version {line['schema'] or 'none'} among rows of {version}.", path, number)
    numbered = [
        (number, _with_learner({**unknown, **{key: csv_files.original(cell) for key, cell in line.items()}}))
        for number, line in lines
    ]
    return _once(numbered) if version == "3" else numbered


def _with_learner(line: Line) -> Line:
    """Adds the learner to lines before schema 5 and to published rows, which are fine-tuned encoders."""
    return {**line, "learner": line["learner"] or row_name(line["weights"])}


def _once(lines: Sequence[Numbered]) -> list[Numbered]:
    """Removes repeated lines: in schema 3 a row was repeated if the note of its protocol was reworded."""
    found: dict[tuple[str, ...], Numbered] = {}
    for number, line in lines:
        found.setdefault(tuple(cell for column, cell in line.items() if column != "note"), (number, line))
    return list(found.values())


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
