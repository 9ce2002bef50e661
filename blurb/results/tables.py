"""`results.csv` and `leaderboard.csv`: views that are rebuilt, under a lock, from the store and `external.csv`.

The columns are described in docs/csv.md. Numbers are times 100 with two decimals (four in `results.csv`); a missing
value is an empty cell. Nothing in them depends on when or where a trial ran, so an interrupted and an uninterrupted run
give equal files.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock

from blurb import tasks
from blurb.errors import BlurbError, DataError, StoreError, Tell, tell_damage
from blurb.files import write_whole
from blurb.results import csv_files, owners, published
from blurb.results.rows import Result, gather
from blurb.results.score import blurb_score, type_means
from blurb.runs.store import Record, Store, task_of
from blurb.tasks import TYPES

SCHEMA = 5
READ = {"3": ("tokenizer", "recipe", "protocol_hash", "max_train", "max_eval", "family"), "4": (), "5": ()}
"""The schemas that are read, and the columns that each lacks: what they would say is not known then. `learner` came
with 5 and is known of all: before, there were baselines and fine-tuned encoders."""
AXES = ("head", "pooling", "word_pooling", "tagging", "relation_input")
"""What stands around the encoder; empty where it does not concern a trial."""
LIMITS = ("max_train", "max_eval")
"""Most units of a split; empty where there is no limit."""
MODEL = ("model", "weights", "tokenizer", "learner", "recipe")
ASKED = ("protocol", "protocol_hash", "overrides", "precision")
KEY = ("suite", *MODEL, *ASKED)
"""What makes a row in a `results.csv`."""
RESULTS = (
    "schema", *KEY, *AXES, *LIMITS, "task", "type", "seed", "planned", "split", "metric", "value", "majority",
    "data", "data_hash", "metrics_version", "family", "trial",
)  # fmt: skip
NAMES = tuple(task.name for task in tasks.all() if task.row)
LEADERBOARD = (
    "schema", "suite", "model", "source", *ASKED, *MODEL[1:],
    "score", "score_sd", "score_low", "score_high", *TYPES, *NAMES, "seeds", "complete", "data", "note",
)  # fmt: skip
DEFAULT = "leaderboard.csv"
Z95 = 1.959964


def results_beside(leaderboard: Path) -> Path:
    """The long table of a wide one: `results.csv` beside `leaderboard.csv`, `mine-results.csv` beside `mine.csv`."""
    if leaderboard.name == DEFAULT:
        return leaderboard.with_name("results.csv")
    return leaderboard.with_name(f"{leaderboard.stem}-results.csv")


def rebuild(store: Store, leaderboard: Path, tell: Tell = tell_damage) -> list[Result]:
    """Writes `leaderboard` and its long table beside it; returns the rows.

    :param tell: is told of what is damaged in the store, and left out
    :raises StoreError: if one of the files has another schema version or is of another store; nothing is written then
    """
    folder = leaderboard.parent
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".blurb-tables.lock"):
        rows, published_rows = check(store, leaderboard, tell)
        write_csv(results_beside(leaderboard), RESULTS, [line for row in rows for line in _result_lines(row)])
        lines = [leaderboard_line(row) for row in rows] + [_external_line(row) for row in published_rows]
        write_csv(leaderboard, LEADERBOARD, lines)
        owners.note(store, leaderboard)
    return rows


def check(
    store: Store, leaderboard: Path, tell: Tell = tell_damage
) -> tuple[list[Result], list[published.PublishedRow]]:
    """What the tables are made from; StoreError or DataError if they could not be written. Writes nothing itself."""
    if leaderboard.name in ("results.csv", "external.csv"):
        raise StoreError(f"--leaderboard cannot be {leaderboard.name}: that file stands beside it.")
    results = results_beside(leaderboard)
    check_schema(leaderboard, LEADERBOARD)
    check_schema(results, RESULTS)
    owners.check(store, leaderboard, results)
    external = leaderboard.with_name("external.csv")
    return gather(store, tell), published.read(external) if external.exists() else []


def check_schema(path: Path, columns: Sequence[str]) -> None:
    """StoreError if a file is there that this version did not write, or that is the other of the two tables."""
    if not path.exists():
        return
    try:
        there, lines = csv_files.read(path)
        found = (lines[0].get("schema") if lines else str(SCHEMA)) if "schema" in there else None
    except DataError:
        there, found = (), None
    if found not in READ:
        raise StoreError(
            f"{path} has schema version {found or 'none'}, this version of blurb writes {SCHEMA}. "
            "It was left as it is; give another file with --leaderboard, or move it away."
        )
    if ("metric" in there) != ("metric" in columns):
        kind = "a table of runs" if "metric" in there else "a leaderboard"
        raise StoreError(f"{path} is {kind} and was left as it is; give another file with --leaderboard.")


def leaderboard_line(row: Result) -> dict[str, str]:
    """One row of the store as a line of `leaderboard.csv`."""
    line = {
        "schema": str(SCHEMA),
        "suite": row.configuration.suite,
        **model(row),
        **asked(row),
        **numbers(row.means()),
        "seeds": _seeds(row),
        "complete": "yes" if row.complete else "no",
        "data": row.data,
        "note": row.note,
    }
    if row.score is not None and row.spread is not None:
        line |= score_columns(row.score, *row.spread)
    return line


def score_columns(score: float, deviation: float, error: float) -> dict[str, str]:
    """Standard deviation and 95 % interval of a score over seeds."""
    low, high = (f"{score + sign * Z95 * error:.2f}" for sign in (-1, 1))
    return {"score_sd": f"{deviation:.2f}", "score_low": low, "score_high": high}


def numbers(means: dict[str, float]) -> dict[str, str]:
    """Score, task-type means and datasets, as far as they are there."""
    score = blurb_score(means)
    numbers: dict[str, float] = {**means, **type_means(means)}  # type: ignore[dict-item]
    if score is not None:
        numbers["score"] = score
    return {name: f"{value:.2f}" for name, value in numbers.items()}


def model(row: Result) -> dict[str, str]:
    """What learned, as columns."""
    return {
        "model": row.model,
        "weights": row.weights[:12],
        "tokenizer": row.tokenizer[:12],
        "learner": row.learner,
        "recipe": str(row.recipe),
    }


def asked(row: Result) -> dict[str, str]:
    """`configuration` with the hash of the protocol, in the order of the key."""
    found = {**configuration(row), "protocol_hash": row.configuration.protocol_hash[:12]}
    return {column: found[column] for column in ASKED}


def configuration(row: Result) -> dict[str, str]:
    """Protocol, overrides and precision of a row, as columns."""
    overrides = row.configuration.overrides
    return {
        "protocol": row.configuration.protocol,
        "overrides": " ".join(f"{key}={overrides[key]}" for key in sorted(overrides)),
        "precision": row.configuration.precision,
    }


def _seeds(row: Result) -> str:
    """`5` where all datasets have five seeds, else the number by dataset."""
    counts = {name: len(row.seeds(name)) for name in row.records}
    if len(set(counts.values())) == 1:
        return str(next(iter(counts.values())))
    return " ".join(f"{name}:{counts[name]}" for name in NAMES if name in counts)


def _result_lines(row: Result) -> list[dict[str, str]]:
    lines = []
    for task, seeds in sorted(row.records.items(), key=lambda item: NAMES.index(item[0]) if item[0] in NAMES else 99):
        kind = _type(task, next(iter(seeds.values())))
        for seed, record in sorted(seeds.items()):
            for split in ("dev", "test"):
                for metric, value in record.metrics[split].items():
                    scale = 1 if metric in COUNTS else 100
                    majority = record.metrics["majority"][split].get(metric)
                    lines.append({
                        "schema": str(SCHEMA),
                        "suite": row.configuration.suite,
                        **model(row),
                        **asked(row),
                        **{axis: str(record.trial.settings.get(axis, "")) for axis in AXES},
                        **{limit: str(record.trial.settings.get(limit) or "") for limit in LIMITS},
                        "task": task,
                        "type": kind,
                        "seed": str(seed),
                        "planned": str(len(row.planned.get(task, ()))),
                        "split": split,
                        "metric": metric,
                        "value": f"{scale * value:.4f}",
                        "majority": "" if majority is None else f"{scale * majority:.4f}",
                        "data": "synthetic" if row.data == "synthetic" else record.provenance["data_verdict"],
                        "data_hash": record.trial.data[:12],
                        "metrics_version": str(record.metrics["metrics_version"]),
                        "family": row.families[task],
                        "trial": record.path.name,
                    })  # fmt: skip
    return lines


def _type(task: str, record: Record) -> str:
    """The type of a task, also of one from a file; empty for that of a plug-in that is not installed here any more."""
    try:
        return task_of(record.path, task).type
    except BlurbError:
        return ""


COUNTS = frozenset({"true_positives", "predicted", "gold", "constant"})
"""Figures that are no fractions and are not multiplied by 100."""


def _external_line(row: published.PublishedRow) -> dict[str, str]:
    return {
        "schema": str(SCHEMA),
        "suite": "blurb",
        "model": row.model,
        "source": row.edition,
        **numbers(row.scores),
        **({} if row.total is None else {"score": f"{row.total:.2f}"}),
        "complete": "yes" if len(row.scores) == len(NAMES) else "no",
        "data": "not known",
        "note": "; ".join(row.notes),
    }


def write_csv(path: Path, columns: Sequence[str], lines: list[dict[str, str]]) -> None:
    """Lines by column name; what a line lacks is an empty cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({column: csv_files.neutral(cell) for column, cell in line.items()} for line in lines)
    write_whole(path, text.getvalue().encode())
