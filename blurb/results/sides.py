"""One side of a comparison: a row of a store, of a CSV file, or a published one, under one face."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from blurb import metrics, tasks
from blurb.errors import DataError, SettingsError, Tell, UnknownName, tell_damage
from blurb.results import csv_files, published, tables
from blurb.results.rows import Result, extras, gather, learned
from blurb.runs.spec import kind_of
from blurb.runs.store import Record, Store
from blurb.tasks import TYPES, Split
from blurb.wording import distinct

PUBLISHED = "published"
Place = tuple[Path, int, dict[str, str]]
"""A line of a table, and where it stands."""


@dataclass(frozen=True)
class Side:
    """What is known of one row on one split.

    :param name: model, and configuration where the model has several
    :param scores: dataset -> seed -> score, times 100; empty for numbers without runs
    :param means: dataset -> mean over runs; what remains of a published row
    :param planned: dataset -> how many seeds it is to have; nothing where it is not known
    :param data: dataset -> data hash, shortened; nothing where it is not known
    :param versions: dataset -> version of the metrics, or several with commas; nothing where it is not known
    :param most_eval: dataset -> the most units that were scored, 0 for all; nothing where it is not known
    :param only: the split that means without runs are of; "" if all splits are there
    :param records: dataset -> seed -> trial, where there are predictions
    :param learner: what learned (`blurb.runs.spec.RECIPES`); published rows are of fine-tuned encoders
    """

    name: str
    means: Mapping[str, float]
    scores: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    planned: Mapping[str, int] = field(default_factory=dict)
    data: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    most_eval: Mapping[str, int] = field(default_factory=dict)
    only: str = ""
    records: Mapping[str, Mapping[int, Record]] = field(default_factory=dict)
    learner: str = "encoder"

    def runs(self, task: str) -> list[float]:
        """The score of each run, in the order of the seeds."""
        return [score for _, score in sorted(self.scores.get(task, {}).items())]


def resolve(reference: str, store: Path, split: Split, tell: Tell = tell_damage) -> Side:
    """The row that a reference names.

    `MODEL` or `MODEL CONFIGURATION` of the store; `FOLDER[:ROW]` of another store; `FILE.csv[:ROW]`, a `results.csv` or
    a `leaderboard.csv` (the `results.csv` beside it is read for the runs); `published:MODEL`. ROW may be left out where
    there is one.

    :param tell: is told of what is damaged in a store, and left out
    :raises SettingsError: or UnknownName with the closest, if there is no such row, or several
    :raises DataError: if a file is not what it should be; names the line
    """
    if reference.startswith(f"{PUBLISHED}:"):
        rows = [
            (row.model, Side(f"{row.model} ({row.source})", row.scores, only="test")) for row in published.shipped()
        ]
        return _pick(rows, reference.partition(":")[2], "the published rows")
    mine = _of_store(store, split, tell)
    path, row = _split(reference)
    if path is None or any(reference in (model, side.name) for model, side in mine):
        return _pick(mine, reference, str(store))
    if path.is_dir():
        return _pick(_of_store(path, split, tell), row, str(path))
    return _pick(of_file(path, split), row, str(path))


def _split(reference: str) -> tuple[Path | None, str]:
    """The table or store that a reference begins with, and the row in it."""
    if _holds_rows(Path(reference)):
        return Path(reference), ""
    for place in (place for place, character in enumerate(reference) if character == ":"):
        if _holds_rows(Path(reference[:place])):
            return Path(reference[:place]), reference[place + 1 :]
    if reference.endswith((".csv", "/")) or ".csv:" in reference:
        raise DataError("there is no such file or folder.", Path(reference))
    return None, reference


def _holds_rows(path: Path) -> bool:
    """A file, or a folder with rows of trials: a checkpoint may lie where its row is asked for."""
    return path.is_file() or any(path.glob("*/rows/*.json")) or (path.is_dir() and not any(path.iterdir()))


def _pick(found: Sequence[tuple[str, Side]], wanted: str, where: str) -> Side:
    models, sides = [model for model, _ in found], [side for _, side in found]
    if not sides:
        raise SettingsError(f"{where}: there is no finished row.")
    if not wanted:
        if len(sides) > 1:
            raise SettingsError(f"{where} has several rows; name one: {_listed(sides)}.")
        return sides[0]
    exact = [side for side in sides if side.name == wanted]
    fits = exact or [side for side, model in zip(sides, models, strict=True) if model == wanted]
    if not fits:
        raise UnknownName(f"row (in {where})", wanted, [*dict.fromkeys(models), *(side.name for side in sides)])
    if len(fits) > 1:
        raise SettingsError(f"{where} has several rows of {wanted}; name one: {_listed(fits)}.")
    return fits[0]


def _listed(sides: Iterable[Side]) -> str:
    return ", ".join(f"'{side.name}'" for side in sides)


def _of_store(folder: Path, split: Split, tell: Tell) -> list[tuple[str, Side]]:
    rows = gather(Store(folder), tell)
    sides = [of_result(row, split) for row in rows]
    more = [(row.configuration.precision, *extras(row)) for row in rows]
    return _told_apart([(row.model, side) for row, side in zip(rows, sides, strict=True)], more)


def _told_apart(found: list[tuple[str, Side]], more: Sequence[tuple[str, ...]]) -> list[tuple[str, Side]]:
    """Rows of one name get what else there is to tell them by."""
    names = distinct([side.name for _, side in found], more)
    return [(model, replace(side, name=name)) for (model, side), name in zip(found, names, strict=True)]


def of_result(row: Result, split: Split) -> Side:
    """A row of a store."""
    scores = {
        task: {seed: 100 * record.score(split) for seed, record in records.items()}
        for task, records in row.records.items()
    }
    versions = {
        task: ",".join(sorted({str(record.metrics["metrics_version"]) for record in records.values()}))
        for task, records in row.records.items()
    }
    return Side(
        name=f"{row.model} {row.configuration.text}",
        means=_means(scores),
        scores=scores,
        planned={task: len(seeds) for task, seeds in row.planned.items()},
        data={task: next(iter(records.values())).trial.data[:12] for task, records in row.records.items()},
        versions=versions,
        most_eval=row.limits("max_eval"),
        records=row.records,
        learner=row.learner,
    )


def _means(scores: Mapping[str, Mapping[int, float]]) -> dict[str, float]:
    return {task: math.fsum(values.values()) / len(values) for task, values in scores.items() if values}


def of_file(path: Path, split: Split, alone: bool = False) -> list[tuple[str, Side]]:
    """All rows of a `results.csv` or `leaderboard.csv`, each with the name of its model; DataError (file, line).

    :param alone: read this file, and not the `results.csv` beside a `leaderboard.csv` that has its runs
    """
    lines = read_lines(path)
    if "metric" in lines[0][1]:
        return _of_long(lines, split)
    long = None if alone else _long_of(path, lines)
    if long is None:
        return _of_wide(lines, path)
    return _of_long(long, split) + _of_wide([(number, line) for number, line in lines if line["source"]], path)


def _long_of(path: Path, lines: Sequence[tuple[int, dict[str, str]]]) -> list[tuple[int, dict[str, str]]] | None:
    """The runs of a `leaderboard.csv`: the table beside it that has all its rows; None if there is none.

    Until schema 3 every table had its runs in `results.csv`.
    """
    columns = ("suite", "model", "weights", "protocol", "overrides", "precision")
    mine = {tuple(line[column] for column in columns) for _, line in lines if not line["source"]}
    for beside in dict.fromkeys((tables.results_beside(path), path.with_name("results.csv"))):
        if beside.is_file():
            long = read_lines(beside)
            if mine <= {tuple(line[column] for column in columns) for _, line in long}:
                return long
    return None


def read_lines(path: Path) -> list[tuple[int, dict[str, str]]]:
    """Number and cells of every line; DataError where the file is no table of this schema."""
    columns, found = csv_files.read(path)
    expected = tables.RESULTS if "metric" in columns else tables.LEADERBOARD
    version = (found[0].get("schema") or "none") if found else str(tables.SCHEMA)
    if version not in tables.READ:
        read = " and ".join(tables.READ)
        raise DataError(f"schema version {version}; this version of blurb reads {read}.", path, 2)
    unknown = dict.fromkeys(tables.READ[version], "")
    if version != str(tables.SCHEMA):
        unknown["learner"] = ""
    missing = [column for column in expected if column not in (*columns, *unknown)]
    if missing:
        raise DataError(f"the columns {', '.join(missing)} are missing.", path, 1)
    if not found:
        raise DataError("the table has no rows.", path)
    for number, line in enumerate(found, 2):
        if None in line or None in line.values():
            raise DataError(f"expected {len(columns)} cells.", path, number)
        if line["schema"] != version:
            raise DataError(f"schema version {line['schema'] or 'none'} among rows of {version}.", path, number)
    lines = [
        (number, _with_learner({**unknown, **{key: csv_files.original(cell) for key, cell in line.items()}}))
        for number, line in enumerate(found, 2)
    ]
    if version == "3":
        lines = _once(lines)
    if "metric" in columns:
        _check_runs(lines, path)
        check_alike([(path, number, line) for number, line in lines], MADE)
    return lines


def _with_learner(line: dict[str, str]) -> dict[str, str]:
    """The learner of lines before schema 5, and of published rows, which are of fine-tuned encoders."""
    return {**line, "learner": line["learner"] or kind_of(line["weights"])}


MADE = (*tables.AXES, *tables.LIMITS, "family")
"""What the seeds of a dataset have in common wherever they come from."""


def check_alike(places: Iterable[Place], columns: Sequence[str]) -> None:
    """DataError, naming two files and lines, if seeds of one row differ in one of the columns.

    What a table of schema 3 does not know is no difference; empty cells of others say something.
    """
    first: dict[tuple[str, ...], Place] = {}
    for path, number, line in places:
        before, at, other = first.setdefault(tuple(line[key] for key in (*tables.KEY, "task")), (path, number, line))
        unknown = {*tables.READ[line["schema"]], *tables.READ[other["schema"]]}
        differing = [column for column in columns if other[column] != line[column] and column not in unknown]
        if differing:
            hint = " Run blurb rescore where the older one was made." if differing == ["metrics_version"] else ""
            raise DataError(
                f"{line['model']} on {line['task']}: seed {line['seed']} has another {', '.join(differing)} than seed "
                f"{other['seed']} in {before}:{at}; they cannot be averaged.{hint}",
                path, number,
            )  # fmt: skip


def _once(lines: Sequence[tuple[int, dict[str, str]]]) -> list[tuple[int, dict[str, str]]]:
    """Without repeated lines: a row whose protocol's note was reworded stood in a table of schema 3 once a wording."""
    found: dict[tuple[str, ...], tuple[int, dict[str, str]]] = {}
    for number, line in lines:
        found.setdefault(tuple(cell for column, cell in line.items() if column != "note"), (number, line))
    return list(found.values())


def _check_runs(lines: Sequence[tuple[int, dict[str, str]]], path: Path) -> None:
    """DataError at a line of a `results.csv` that stands there twice, or has text in the place of a number."""
    seen: dict[tuple[str, ...], int] = {}
    for number, line in lines:
        cell = tuple(line[column] for column in (*tables.KEY, "task", "seed", "split", "metric"))
        if cell in seen:
            raise DataError(f"the same model, task, seed, split and metric as line {seen[cell]}.", path, number)
        seen[cell] = number
        _number(line["value"], "value", path, number)
        if line["majority"]:
            _number(line["majority"], "majority", path, number)
        for column in ("seed", "planned", "max_eval", "max_train"):
            if not (line[column].isdigit() or (column in tables.LIMITS and not line[column])):
                raise DataError(f"{column} is {line[column][:20]!r}, not a whole number.", path, number)


def _number(text: str, column: str, path: Path, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"{column} is {text[:20]!r}, not a number.", path, line)
    return value


def _name(line: Mapping[str, str]) -> str:
    return " ".join(part for part in (line["model"], line["protocol"], line["overrides"]) if part)


def _of_long(lines: Sequence[tuple[int, dict[str, str]]], split: Split) -> list[tuple[str, Side]]:
    """Rows of a `results.csv`, from the lines of the metric that counts."""
    main: dict[str, str] = {}
    rows: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for _, line in lines:
        key = tuple(line[column] for column in tables.KEY)
        # A task that is not installed here: its first metric, as the file was written.
        main.setdefault(line["task"], MAIN.get(line["task"], line["metric"]))
        if line["split"] == split and line["metric"] == main[line["task"]]:
            rows.setdefault(key, []).append(line)
    found = [(chosen[0]["model"], _of_lines(chosen)) for chosen in rows.values()]
    return _told_apart(found, [_told_by(chosen[0]) for chosen in rows.values()])


def _told_by(line: Mapping[str, str]) -> tuple[str, ...]:
    return (
        line["precision"], line["suite"], line["weights"], line["protocol_hash"][:8],
        *learned(line["tokenizer"], line["recipe"]),
    )  # fmt: skip


def _of_lines(lines: Sequence[dict[str, str]]) -> Side:
    """One row, from its lines of one split."""
    tasks_ = list(dict.fromkeys(line["task"] for line in lines))
    of = {name: [line for line in lines if line["task"] == name] for name in tasks_}
    scores = {name: {int(line["seed"]): float(line["value"]) for line in mine} for name, mine in of.items()}
    return Side(
        name=_name(lines[0]),
        means=_means(scores),
        scores=scores,
        planned={name: int(mine[0]["planned"]) for name, mine in of.items()},
        data={name: ",".join(sorted({line["data_hash"] for line in mine})) for name, mine in of.items()},
        versions={name: ",".join(sorted({line["metrics_version"] for line in mine})) for name, mine in of.items()},
        most_eval={name: int(mine[0]["max_eval"] or 0) for name, mine in of.items() if mine[0]["schema"] != "3"},
        learner=lines[0]["learner"],
    )


MAIN = {task.name: metrics.MAIN[task.metric] for task in tasks.all() if task.metric in metrics.MAIN}
"""The metric that counts, by task."""


def _of_wide(lines: Sequence[tuple[int, dict[str, str]]], path: Path) -> list[tuple[str, Side]]:
    """Rows of a `leaderboard.csv` without runs: their means on test."""
    found: list[tuple[str, Side]] = []
    seen: dict[tuple[str, ...], int] = {}
    for number, line in lines:
        key = tuple(line[column] for column in (*tables.KEY, "source"))
        if key in seen:
            raise DataError(f"the same row as line {seen[key]}.", path, number)
        seen[key] = number
        numbers = [column for column in NUMBERS if line[column]]
        values = {column: _number(line[column], column, path, number) for column in numbers}
        means = {name: value for name, value in values.items() if name in tables.NAMES}
        found.append((line["model"], Side(_name(line), means, only="test", learner=line["learner"])))
    return _told_apart(found, [_told_by(line) for _, line in lines])


NUMBERS = (*tables.NAMES, *TYPES, "score", "score_sd", "score_low", "score_high")
"""The columns of a `leaderboard.csv` that hold numbers."""
