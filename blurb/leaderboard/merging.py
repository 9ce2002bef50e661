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
from blurb.leaderboard.sides import KEY as ROW
from blurb.leaderboard.sides import MAIN, read_lines

KEY = (*ROW, "task", "seed", "split", "metric")


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
            differing = [
                column for column in tables.RESULTS if before[2][column] != line[column] and column != "planned"
            ]
            if differing:
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
        most: dict[tuple[str, ...], int] = {}  # a machine may have been asked for fewer seeds than another
        for line in lines:
            place = tuple(line[column] for column in (*ROW, "task"))
            most[place] = max(most.get(place, 0), int(line["planned"] or 0))
        lines = [{**line, "planned": str(most[tuple(line[column] for column in (*ROW, "task"))])} for line in lines]
        tables.write_csv(target, tables.RESULTS, lines)
        rows: dict[tuple[str, ...], list[dict[str, str]]] = {}
        for line in lines:
            rows.setdefault(tuple(line[column] for column in ROW), []).append(line)
        tables.write_csv(folder / "leaderboard.csv", tables.LEADERBOARD, [_wide(row) for row in rows.values()])
    return len(found)


def _wide(lines: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """A line of `leaderboard.csv` from the lines of one row."""
    known: dict[str, list[float]] = {}
    planned: dict[str, int] = {}
    for line in lines:
        if line["task"] in tables.NAMES and line["split"] == "test" and line["metric"] == MAIN[line["task"]]:
            known.setdefault(line["task"], []).append(float(line["value"]))
            planned[line["task"]] = int(line["planned"])
    known = {name: known[name] for name in tables.NAMES if name in known}
    means = {task: statistics.fmean(values) for task, values in known.items()}
    deviations = {
        task: (statistics.stdev(values) if len(values) > 1 else 0.0, len(values)) for task, values in known.items()
    }
    counts = {len(values) for values in known.values()}
    whole = len(known) == len(tables.NAMES) and all(len(values) >= planned[task] for task, values in known.items())
    row = {
        **{column: lines[0][column] for column in ("schema", *ROW)},
        **tables.numbers(means),
        "seeds": str(counts.pop()) if len(counts) == 1 else " ".join(f"{t}:{len(v)}" for t, v in known.items()),
        "complete": "yes" if whole else "no",
        "data": _data(lines),
    }
    score, scatter = blurb_score(means), spread(deviations)
    return row if score is None or scatter is None else {**row, **tables.score_columns(score, *scatter)}


def _data(lines: Sequence[Mapping[str, str]]) -> str:
    """As `Result.data` says it."""
    if lines[0]["data"] == "synthetic":
        return "synthetic"
    doubtful = sorted({(line["task"], line["data"]) for line in lines if line["data"] != "identical"})
    return "; ".join(f"{task} {verdict}" for task, verdict in doubtful) or "verified"


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
