"""One side of a comparison: a row of a store, of a CSV file, or a published one, under one face."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from blurb import metrics
from blurb.errors import DataError, SettingsError, UnknownName
from blurb.leaderboard import published, tables
from blurb.leaderboard.rows import Result, gather
from blurb.runs.store import Record, Store
from blurb.tasks import Split

PUBLISHED = "published"


@dataclass(frozen=True)
class Side:
    """What is known of one row on one split.

    :param name: model, and configuration where the model has several
    :param scores: dataset -> seed -> score, times 100; empty for numbers without runs
    :param means: dataset -> mean over runs; what remains of a published row
    :param planned: dataset -> seeds that it is to have
    :param data: dataset -> data hash, shortened; "" if it is not known
    :param version: version of the metrics; None if it is not known
    :param records: dataset -> seed -> trial, where there are predictions
    """

    name: str
    means: Mapping[str, float]
    scores: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    planned: Mapping[str, Sequence[int]] = field(default_factory=dict)
    data: Mapping[str, str] = field(default_factory=dict)
    version: int | None = None
    records: Mapping[str, Mapping[int, Record]] = field(default_factory=dict)

    def runs(self, task: str) -> list[float]:
        """The score of each run, in the order of the seeds."""
        return [score for _, score in sorted(self.scores.get(task, {}).items())]


def resolve(reference: str, store: Path, split: Split) -> Side:
    """The row that a reference names.

    `MODEL` or `MODEL CONFIGURATION` of the store; `FOLDER[:ROW]` of another store; `FILE.csv[:ROW]`, a `results.csv` or
    a `leaderboard.csv` (the `results.csv` beside it is read for the runs); `published:MODEL`. ROW may be left out where
    there is one.

    :raises SettingsError: or UnknownName with the closest, if there is no such row, or several
    :raises DataError: if a file is not what it should be; names the line
    """
    if reference.startswith(f"{PUBLISHED}:"):
        rows = [(row.model, Side(f"{row.model} ({row.source})", row.scores)) for row in published.shipped()]
        return _pick(rows, reference.partition(":")[2], "the published rows")
    path, row = _split(reference)
    if path is None:
        return _pick(_of_store(store, split), reference, str(store))
    if path.is_dir():
        return _pick(_of_store(path, split), row, str(path))
    return _pick(of_file(path, split), row, str(path))


def _split(reference: str) -> tuple[Path | None, str]:
    """The file or folder that a reference begins with, and the row in it."""
    if Path(reference).exists():
        return Path(reference), ""
    for place in (place for place, character in enumerate(reference) if character == ":"):
        if Path(reference[:place]).exists():
            return Path(reference[:place]), reference[place + 1 :]
    if reference.endswith((".csv", "/")):
        raise DataError("there is no such file or folder.", Path(reference))
    return None, reference


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


def _of_store(folder: Path, split: Split) -> list[tuple[str, Side]]:
    rows = gather(Store(folder))
    return [(row.model, of_result(row, split)) for row in rows]


def of_result(row: Result, split: Split) -> Side:
    """A row of a store."""
    scores = {
        task: {seed: 100 * record.score(split) for seed, record in records.items()}
        for task, records in row.records.items()
    }
    versions = {record.metrics["metrics_version"] for records in row.records.values() for record in records.values()}
    return Side(
        name=f"{row.model} {row.configuration.text}",
        means=_means(scores),
        scores=scores,
        planned=row.planned,
        data={task: next(iter(records.values())).trial.data[:12] for task, records in row.records.items()},
        version=versions.pop() if len(versions) == 1 else None,
        records=row.records,
    )


def _means(scores: Mapping[str, Mapping[int, float]]) -> dict[str, float]:
    return {task: math.fsum(values.values()) / len(values) for task, values in scores.items() if values}


def of_file(path: Path, split: Split) -> list[tuple[str, Side]]:
    """All rows of a `results.csv` or `leaderboard.csv`, each with the name of its model; DataError (file, line)."""
    beside = path.with_name("results.csv")
    lines = read_lines(path)
    if "metric" not in lines[0][1]:
        if not beside.is_file():
            return _of_wide(lines, path)
        path, lines = beside, read_lines(beside)
    return _of_long(lines, path, split)


def read_lines(path: Path) -> list[tuple[int, dict[str, str]]]:
    """Number and cells of every line; DataError where the file is no table of this schema."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}.", path) from None
    reader = csv.DictReader(text.splitlines())
    columns = tuple(reader.fieldnames or ())
    expected = tables.RESULTS if "metric" in columns else tables.LEADERBOARD
    missing = [column for column in expected if column not in columns]
    found = list(reader)
    version = found[0].get("schema") if found else None
    if version not in (None, str(tables.SCHEMA)):
        raise DataError(f"schema version {version or 'none'}; this version of blurb reads {tables.SCHEMA}.", path, 2)
    if missing:
        raise DataError(f"the columns {', '.join(missing)} are missing.", path, 1)
    if not found:
        raise DataError("the table has no rows.", path)
    for number, line in enumerate(found, 2):
        if None in line or None in line.values():
            raise DataError(f"expected {len(columns)} cells.", path, number)
        if line["schema"] != str(tables.SCHEMA):
            raise DataError(f"schema version {line['schema'] or 'none'} among rows of {tables.SCHEMA}.", path, number)
    return [
        (number, {key: tables.original(cell) for key, cell in line.items()}) for number, line in enumerate(found, 2)
    ]


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


def _of_long(lines: Sequence[tuple[int, dict[str, str]]], path: Path, split: Split) -> list[tuple[str, Side]]:
    """Rows of a `results.csv`: the first metric of each task, seed and split is the one that counts."""
    scores: dict[tuple[str, ...], dict[str, dict[int, float]]] = {}
    known: dict[tuple[str, ...], tuple[str, str, dict[str, str], set[str]]] = {}
    seen: dict[tuple[str, ...], int] = {}
    for number, line in lines:
        key = tuple(line[column] for column in ("suite", "model", "weights", "protocol", "overrides", "precision"))
        cell = (*key, line["task"], line["seed"], line["split"], line["metric"])
        if cell in seen:
            raise DataError(f"the same model, task, seed, split and metric as line {seen[cell]}.", path, number)
        seen[cell] = number
        value = _number(line["value"], "value", path, number)
        if not line["seed"].isdigit():
            raise DataError(f"seed is {line['seed'][:20]!r}, not a whole number.", path, number)
        if line["split"] != split:
            continue
        scores.setdefault(key, {}).setdefault(line["task"], {}).setdefault(int(line["seed"]), value)
        _, _, data, versions = known.setdefault(key, (line["model"], _name(line), {}, set()))
        data[line["task"]] = line["data_hash"]
        versions.add(line["metrics_version"])
    found = []
    for key, row in scores.items():
        model, name, data, versions = known[key]
        version = versions.pop() if len(versions) == 1 else ""
        found.append(
            (model, Side(name, _means(row), row, data=data, version=int(version) if version.isdigit() else None))
        )
    return found


def _of_wide(lines: Sequence[tuple[int, dict[str, str]]], path: Path) -> list[tuple[str, Side]]:
    """Rows of a `leaderboard.csv` without runs: their means."""
    found: list[tuple[str, Side]] = []
    for number, line in lines:
        means = {name: _number(line[name], name, path, number) for name in tables.NAMES if line[name]}
        found.append((line["model"], Side(_name(line), means, version=metrics.VERSION)))
    return found
