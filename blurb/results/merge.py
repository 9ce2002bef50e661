"""One `results.csv` from those of several machines, and numbers of others in `external.csv`."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from filelock import FileLock

from blurb.errors import DataError
from blurb.files import write_whole
from blurb.results import notes, published, tables
from blurb.results.score import blurb_score, spread
from blurb.results.sides import MADE, MAIN, Place, check_alike, read_lines
from blurb.results.tables import KEY as ROW

KEY = (*ROW, "task", "seed", "split", "metric")
ALIKE = (*MADE, "data_hash", "metrics_version")
"""What seeds must have in common to be averaged."""
OLD_ROW = tuple(column for column in ROW if column not in tables.READ["3"])
NEW_ROW = tuple(column for column in ROW if column in tables.READ["3"])
"""What of a row's key a table of schema 3 has, and what it lacks."""
Line = dict[str, str]


def merge(paths: Sequence[Path], folder: Path) -> int:
    """Writes `results.csv` and `leaderboard.csv` into `folder`; returns the number of lines.

    A line that several files have is one, if they agree in everything.

    :raises DataError: naming both files and lines, where they do not, or where seeds of one row cannot be averaged
    """
    found: dict[tuple[str, ...], Place] = {}
    for place in _completed([(path, *numbered) for path in paths for numbered in _read(path)]):
        path, number, line = place
        key = tuple(line[column] for column in KEY)
        before = found.setdefault(key, place)
        unknown = {*tables.READ[line["schema"]], *tables.READ[before[2]["schema"]]}
        differing = [
            column
            for column in tables.RESULTS
            if before[2][column] != line[column] and column not in ("planned", "schema") and column not in unknown
        ]
        if differing:
            raise DataError(
                f"{line['model']} {line['task']} seed {line['seed']} {line['split']} {line['metric']}: another "
                f"{', '.join(differing)} than in {before[0]}:{before[1]}.",
                path, number,
            )  # fmt: skip
    check_alike(found.values(), ALIKE)
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".blurb-tables.lock"):
        target = folder / "results.csv"
        _check_target(target, found)
        lines = [{**line, "schema": str(tables.SCHEMA)} for _, _, line in found.values()]
        most: dict[tuple[str, ...], int] = {}  # a machine may have been asked for fewer seeds than another
        for line in lines:
            place_ = tuple(line[column] for column in (*ROW, "task"))
            most[place_] = max(most.get(place_, 0), int(line["planned"] or 0))
        lines = [{**line, "planned": str(most[tuple(line[column] for column in (*ROW, "task"))])} for line in lines]
        tables.write_csv(target, tables.RESULTS, lines)
        rows: dict[tuple[str, ...], list[Line]] = {}
        for line in lines:
            rows.setdefault(tuple(line[column] for column in ROW), []).append(line)
        tables.write_csv(folder / tables.DEFAULT, tables.LEADERBOARD, [_wide(row) for row in rows.values()])
    return len(found)


def _read(path: Path) -> list[tuple[int, Line]]:
    lines = read_lines(path)
    if "metric" not in lines[0][1]:
        raise DataError("this is no results.csv; a leaderboard.csv has no runs to merge.", path, lines[0][0])
    return lines


def _completed(places: Sequence[Place]) -> list[Place]:
    """Lines of schema 3 with what lines of today know of their row, or of their very trial.

    :raises DataError: if a line could be of several rows: the same trials are needed to tell, or a newer table
    """
    today = [line for _, _, line in places if line["schema"] != "3"]
    trials = {line["trial"]: line for line in today}
    rows: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for line in today:
        rows.setdefault(tuple(line[key] for key in OLD_ROW), set()).add(tuple(line[key] for key in NEW_ROW))
    found = []
    for path, number, line in places:
        if line["schema"] == "3":
            choices = rows.get(tuple(line[key] for key in OLD_ROW), set())
            if line["trial"] in trials:
                line = {**line, **{column: trials[line["trial"]][column] for column in tables.READ["3"]}}
            elif len(choices) == 1:
                line = {**line, **dict(zip(NEW_ROW, next(iter(choices)), strict=True))}
            elif choices:
                raise DataError(
                    f"{line['model']} on {line['task']}, seed {line['seed']}: a table of schema 3 does not say which "
                    f"of {len(choices)} rows of that name it is of; write it anew with blurb rescore.",
                    path, number,
                )  # fmt: skip
        found.append((path, number, line))
    return found


def _check_target(target: Path, found: Mapping[tuple[str, ...], Place]) -> None:
    """Nothing is written over a table that has more than what is being merged."""
    tables.check_schema(target, tables.RESULTS)
    if not target.exists():
        return
    there = {(line["model"], line["task"], line["trial"]) for _, _, line in found.values()}
    for number, line in read_lines(target):
        if (line["model"], line["task"], line["trial"]) not in there:
            raise DataError(
                f"the table holds {line['model']} on {line['task']}, seed {line['seed']}, which is in none of the "
                "files and would be lost; name it among the files too, or give another folder with --out.",
                target, number,
            )  # fmt: skip


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
        "note": note(lines),
    }
    score, scatter = blurb_score(means), spread(deviations)
    return row if score is None or scatter is None else {**row, **tables.score_columns(score, *scatter)}


def note(lines: Sequence[Mapping[str, str]]) -> str:
    """As `Result.note` says it, but for the words of a protocol, which are in no table."""
    first = {line["task"]: line for line in lines}
    trained = lines[0]["learner"] == "encoder"
    seeds = {task: int(line["planned"]) for task, line in first.items()} if trained else {}
    most = [{task: int(line[column] or 0) for task, line in first.items()} for column in tables.LIMITS]
    return notes.of_row("", seeds, *most)


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
                raise DataError(
                    f"{row.model} of {row.edition} is there already. Give another --version, or remove its lines from "
                    "the file first.",
                    path,
                )
        text = io.StringIO()
        if path.exists():
            before = path.read_text(encoding="utf-8")
            text.write(before if before.endswith("\n") else f"{before}\n")
        writer = csv.writer(text, lineterminator="\n")
        if not path.exists():
            writer.writerow(published.COLUMNS)
        for dataset, score in row.scores.items():
            runs = row.runs.get(dataset, "")
            writer.writerow([row.source, row.version, row.model, dataset, f"{score:g}", runs, row.certainty])
        if row.printed is not None:
            writer.writerow([row.source, row.version, row.model, "score", f"{row.printed:g}", "", row.certainty])
        write_whole(path, text.getvalue().encode())
