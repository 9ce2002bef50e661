"""A `results.csv`, a `leaderboard.csv`, or an `external.csv`: every line that cannot be read."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from blurb.doctor._base import SHOWN, Fact, Problem, Report, of_error
from blurb.messages.errors import DataError
from blurb.results import csv_files, published, results_csv
from blurb.results.references import of_file
from blurb.results.row_scores import RowScores

MEND = "Correct the line, or remove it; of a store of yours, blurb rescore writes the tables again."


def examine(path: Path) -> Report:
    """What is wrong with a table. The readers stop at the first line that is wrong, so they read on without it."""
    try:
        columns, lines = csv_files.read(path)
    except DataError as error:
        return Report("table", str(path), [of_error(error, path, MEND)])
    read = _reader(columns)
    problems: list[Problem] = []
    facts: dict[str, Fact] = {"lines": len(lines)}
    text = path.read_bytes().decode("utf-8-sig").split("\n")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        while len(problems) < SHOWN:
            copy.write_text("\n".join(text), encoding="utf-8", newline="")
            try:
                facts["rows"] = len(read(copy))
                break
            except DataError as error:
                what = error.what.replace(str(copy), str(path))
                problems.append(of_error(DataError(what, path, error.line, fix=error.fix), path, MEND))
                if error.line in (None, 1) or "this version of blurb reads" in what:  # it is of the whole table
                    break
                text[error.line - 1] = ""  # empty lines are passed over, and the others keep their numbers
                if not any(text[1:]):
                    break
        else:
            problems.append(Problem(str(path), "Further lines were not looked at.", "Fix those above first."))
    return Report("table", str(path), problems, facts)


def _reader(columns: Sequence[str]) -> Callable[[Path], Sequence[RowScores]]:
    """What reads a table with these columns."""
    if tuple(columns[: len(published.COLUMNS)]) == published.COLUMNS:
        return published.read

    def read(path: Path) -> Sequence[RowScores]:
        if "metric" in columns:
            results_csv.check_alike(
                ((path, number, line) for number, line in results_csv.read_lines(path)), results_csv.ALIKE
            )
        return of_file(path, alone=True)

    return read
