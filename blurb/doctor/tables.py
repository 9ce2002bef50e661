"""A `results.csv`, a `leaderboard.csv`, or an `external.csv`: every line that cannot be read."""

from __future__ import annotations

from pathlib import Path

from blurb.doctor._base import Fact, Report, few, of_error
from blurb.lines import table_of
from blurb.messages.errors import ErrorCollector
from blurb.results.references import of_table

MEND = "Correct the line, or remove it; of a store of yours, blurb rescore writes the tables again."


def examine(path: Path) -> Report:
    """What is wrong with a table."""
    errors, lines = ErrorCollector(), ErrorCollector()
    table = lines.tried(table_of, path, lines)
    rows = errors.tried(of_table, path, errors)
    facts: dict[str, Fact] = {}
    if table is not None:
        facts["lines"] = len(table.rows) + len(lines.errors)
    if rows:
        facts["rows"] = len(rows)
    return Report("table", str(path), few([of_error(error, path, MEND) for error in errors.errors], path), facts)
