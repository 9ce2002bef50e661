"""One `results.csv` from those of several machines, and numbers of others in `external.csv`."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from filelock import FileLock

from blurb.errors import DataError
from blurb.leaderboard import published, tables
from blurb.leaderboard.score import blurb_score, spread
from blurb.leaderboard.sides import Side, of_file, read_lines

KEY = ("suite", "model", "weights", "protocol", "overrides", "precision", "task", "seed", "split", "metric")


def merge(paths: Sequence[Path], folder: Path) -> int:
    """Writes `results.csv` and `leaderboard.csv` into `folder`; returns the number of lines.

    A line that several files have is one, if they agree in everything.

    :raises DataError: naming both files and lines, where they do not
    """
    found: dict[tuple[str, ...], tuple[Path, int, dict[str, str]]] = {}
    for path in paths:
        for number, line in read_lines(path):
            if "metric" not in line:
                raise DataError("this is no results.csv; a leaderboard.csv has no runs to merge.", path, number)
            key = tuple(line[column] for column in KEY)
            before = found.setdefault(key, (path, number, line))
            if before[2] != line:
                differing = [column for column in tables.RESULTS if before[2][column] != line[column]]
                raise DataError(
                    f"{line['model']} {line['task']} seed {line['seed']} {line['split']} {line['metric']}: another "
                    f"{', '.join(differing)} than in {before[0]}:{before[1]}.",
                    path, number,
                )  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".blurb-tables.lock"):
        target = folder / "results.csv"
        tables.check_schema(target)
        lines = [line for _, _, line in found.values()]
        tables.write_csv(target, tables.RESULTS, lines)
        wide = [
            _wide(model, side, [line for line in lines if _is_of(line, side)])
            for model, side in of_file(target, "test")
        ]
        tables.write_csv(folder / "leaderboard.csv", tables.LEADERBOARD, wide)
    return len(found)


def _is_of(line: Mapping[str, str], side: Side) -> bool:
    name = " ".join(part for part in (line["model"], line["protocol"], line["overrides"]) if part)
    return name == side.name


def _wide(model: str, side: Side, lines: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """A line of `leaderboard.csv` from runs."""
    known = {task: values for task, values in side.scores.items() if task in tables.NAMES}
    means = {task: statistics.fmean(values.values()) for task, values in known.items()}
    deviations = {
        task: (statistics.stdev(values.values()) if len(values) > 1 else 0.0, len(values))
        for task, values in known.items()
    }
    counts = {len(values) for values in known.values()}
    line = {
        **{column: lines[0][column] for column in ("schema", "suite", "protocol", "overrides", "precision", "weights")},
        "model": model,
        **tables.numbers(means),
        "seeds": str(counts.pop()) if len(counts) == 1 else " ".join(f"{t}:{len(v)}" for t, v in known.items()),
        "complete": "yes" if len(known) == len(tables.NAMES) else "no",
        "data": "; ".join(sorted({line["data"] for line in lines})).replace("identical", "verified"),
    }
    whole, side_score = spread(deviations), blurb_score(means)
    return line if whole is None or side_score is None else {**line, **tables.score_columns(side_score, *whole)}


def add(path: Path, row: published.PublishedRow) -> None:
    """Adds a row of someone's numbers to a file in the format of `published.csv`; the file is made if need be.

    :raises DataError: if the file has one of these numbers already
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(f".{path.name}.lock")):
        rows = published.read(path) if path.exists() else []
        for other in rows:
            if (other.source, other.version, other.model) == (row.source, row.version, row.model):
                raise DataError(f"{row.model} of {row.source} ({row.version}) is there already.", path)
        text = io.StringIO()
        if path.exists():
            before = path.read_text(encoding="utf-8")
            text.write(before if before.endswith("\n") else f"{before}\n")
        writer = csv.writer(text, lineterminator="\n")
        if not path.exists():
            writer.writerow(published.COLUMNS)
        certainty = "printed" if row.certain else "recalled"
        for dataset, score in row.scores.items():
            runs = row.runs.get(dataset, "")
            writer.writerow([row.source, row.version, row.model, dataset, f"{score:g}", runs, certainty])
        if row.printed is not None:
            writer.writerow([row.source, row.version, row.model, "score", f"{row.printed:g}", "", certainty])
        tables.write_whole(path, text.getvalue().encode())
