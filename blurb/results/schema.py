"""What the two tables have in common: the version of their columns, and the checks of every line that is read.

docs/csv.md describes the columns.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path

from blurb.errors import DataError
from blurb.files import write_whole
from blurb.results import csv_files
from blurb.results.row_scores import RowScores
from blurb.runs.spec import Configuration, kind_of

SCHEMA = 5
READ = {"3": ("tokenizer", "recipe", "protocol_hash", "max_train", "max_eval", "family"), "4": (), "5": ()}
"""The schemas that are read, and the columns that each lacks: what they would say is not known then. `learner` came
with 5 and is known of all: before, there were baselines and fine-tuned encoders."""
MODEL = ("model", "weights", "tokenizer", "learner", "recipe")
ASKED = ("protocol", "protocol_hash", "overrides", "precision")
KEY = ("suite", *MODEL, *ASKED)
"""What makes a row, in the order of `RowScores.identity`."""
Line = dict[str, str]
Numbered = tuple[int, Line]
"""The number of a line in its file, and its cells by column."""


def read_lines(path: Path, columns: Sequence[str]) -> list[Numbered]:
    """Number and cells of every line of a table; DataError (file, line) where it is none of a schema that is read.

    :param columns: of today's schema; those that an older one lacks are empty
    """
    there, lines = csv_files.read(path)
    version = (lines[0][1].get("schema") or "none") if lines else str(SCHEMA)
    if version not in READ:
        raise DataError(
            f"schema version {version}; this version of blurb reads {' and '.join(READ)}.", path, lines[0][0]
        )
    unknown = dict.fromkeys(READ[version], "")
    if version != str(SCHEMA):
        unknown["learner"] = ""
    missing = [column for column in columns if column not in (*there, *unknown)]
    if missing:
        raise DataError(f"the columns {', '.join(missing)} are missing.", path, 1)
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
    """The learner of lines before schema 5, and of published rows, which are of fine-tuned encoders."""
    return {**line, "learner": line["learner"] or kind_of(line["weights"])}


def _once(lines: Sequence[Numbered]) -> list[Numbered]:
    """Without repeated lines: a row whose protocol's note was reworded stood in a table of schema 3 once a wording."""
    found: dict[tuple[str, ...], Numbered] = {}
    for number, line in lines:
        found.setdefault(tuple(cell for column, cell in line.items() if column != "note"), (number, line))
    return list(found.values())


def number(text: str, column: str, path: Path, line: int) -> float:
    """A cell as a number; DataError (file, line) if it is none."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"{column} is {text[:20]!r}, not a number.", path, line)
    return value


def configuration(line: Line) -> Configuration:
    """What a line says of its configuration."""
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
    """The cells of `KEY`; numbers of others say nothing of what learned."""
    if row.published:
        return {"suite": row.suite, "model": row.model}
    return dict(zip(KEY, row.identity, strict=True))


def write(path: Path, columns: Sequence[str], lines: Sequence[Line]) -> None:
    """Lines by column name; what a line lacks is an empty cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({column: csv_files.neutral(cell) for column, cell in line.items()} for line in lines)
    write_whole(path, text.getvalue().encode())
