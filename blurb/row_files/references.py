"""Resolves references to rows: in the store, another store, a table or a paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

from blurb import names, tasks
from blurb.messages import (
    FIRST,
    BlurbError,
    DataError,
    ErrorCollector,
    SettingsError,
    Tell,
    UnknownName,
    opt,
    tell_damage,
)
from blurb.names import resolve_name
from blurb.results import from_store, leaderboard_csv, published, results_csv, tables
from blurb.results.row import Published, Row, label_rows
from blurb.results.schema import KEY, Numbered
from blurb.row_files.reading import read_row_files
from blurb.row_files.scores import claimed_scores
from blurb.row_files.writing import ABOUT
from blurb.store.record import Record
from blurb.store.store import Store
from blurb.table_files import head_of

PUBLISHED = "published"


@runtime_checkable
class HasRows(Protocol):
    """Results of a run (`blurb.Results`)."""

    @property
    def rows(self) -> Sequence[Row]:
        """The rows of the models."""


RowReference: TypeAlias = str | Path | Row | HasRows
"""Types that stand for a row; `HasRows` must have one."""


@dataclass(frozen=True)
class RowName:
    """A reference to a row as people type it, in every command and from Python.

    `ROW` in the store of the command; `FOLDER[:ROW]` in another store; a folder of row files (`blurb export row`) or
    its `row.json`; `FILE.csv[:ROW]` in a `results.csv` or a `leaderboard.csv`; `published:ROW`. ROW is a name as tables
    print it, a model, a run for its checkpoints (`mine` for `mine@5000`), or of published rows a source (`gu2021`) or
    `SOURCE/MODEL`.

    :param row: "" for all rows of the place
    :param place: store or table; None for the store of the command
    """

    row: str
    place: Path | None = None
    published: bool = False

    @classmethod
    def parse(cls, text: str) -> RowName:
        """Parses a name; DataError or SettingsError for a place that does not exist, or holds no rows."""
        if text.startswith(f"{PUBLISHED}:"):
            return cls(text.partition(":")[2], published=True)
        if Path(text).name == ABOUT:
            text = str(Path(text).parent)
        if _holds_rows(Path(text)):
            return cls("", Path(text))
        for place in (place for place, character in enumerate(text) if character == ":"):
            if _holds_rows(Path(text[:place])):
                return cls(text[place + 1 :], Path(text[:place]))
        if text.endswith((".csv", "/")) or ".csv:" in text:
            raise DataError("no such file or folder.", Path(text))
        if _holds_rows(inside := Path(text) / "runs"):
            raise SettingsError(f"{text} is a folder but no store; did you mean {inside}?")
        return cls(text)

    def where(self, store: Path) -> str:
        """The place of its rows, for messages."""
        return "the list of published rows" if self.published else str(self.place or store)

    def rows(self, store: Path, tell: Tell = tell_damage) -> list[Row]:
        """All rows of the place.

        :param store: of the command
        :param tell: receives messages about damage in a store; damaged trials are left out
        :raises DataError: (file, line) if a file is invalid
        """
        if self.published:
            return [*published.shipped(), *published.ablations()]
        place = self.place or store
        if place.is_file():
            return file_rows(place)
        if (place / ABOUT).is_file():
            return [claimed_scores(read_row_files(place))]
        return _store_rows(place, self.row, tell) or from_store.read(Store(place), tell)


def resolve(reference: str, store: Path, tell: Tell = tell_damage) -> Row:
    """The row of a name (`RowName`), which is optional where there is only one row.

    :param tell: receives messages about damage in a store; damaged trials are left out
    :raises SettingsError: or UnknownName with the closest name, if there is no such row, or several
    :raises DataError: (file, line) if a file is invalid
    """
    if mine := _store_rows(store, reference, tell):  # even if folders have its name
        return pick_row(mine, reference, str(store))
    name = RowName.parse(reference)
    return pick_row(name.rows(store, tell), name.row, name.where(store))


def resolve_all(reference: str, store: Path) -> list[Row]:
    """All rows of a name: of a model, of the checkpoints of a run, of a place; errors as of `resolve`."""
    name = RowName.parse(reference)
    there = name.rows(store)
    fits = fitting(there, name.row)
    if not fits:
        raise unknown_row(there, name.row, f"row (in {name.where(store)})")
    return fits


def _store_rows(store: Path, wanted: str, tell: Tell) -> list[Row]:
    """The rows of a store with this name or of this model, as among all, without reading the trials of others."""
    told: list[BlurbError] = []
    near = from_store.read(Store(store), told.append, near=wanted) if wanted else []
    fits = [row for row in near if wanted in (row.model, row.name)]
    for damage in told if fits else ():  # else all rows are read, and all damage is told
        tell(damage)
    return fits


def _holds_rows(path: Path) -> bool:
    """Whether a path is a file, row files or a store; a folder of the row's name may also be a checkpoint."""
    try:
        return (
            path.is_file()
            or (path / ABOUT).is_file()
            or any(path.glob("*/rows/*.json"))
            or (path.is_dir() and not any(path.iterdir()))
        )
    except OSError:
        # A row's name may be longer than a path can be, or the folder is not readable.
        return False


def fitting(rows: Sequence[Row], wanted: str) -> list[Row]:
    """The rows that a name means (`RowName.row`): the first of its meanings that any has."""
    if not wanted:
        return list(rows)
    meanings: tuple[Callable[[Row], str], ...] = (
        lambda row: row.name,
        lambda row: row.model,
        lambda row: (names.run_and_step(row.model) or ("", 0))[0],
        # a variant is asked for by its name
        lambda row: (
            row.source
            if isinstance(row, Published) and row.model not in published.ABLATIONS
            else ""
        ),
        lambda row: f"{row.source}/{row.model}" if isinstance(row, Published) else "",
    )
    return next(
        (fits for of in meanings if (fits := [row for row in rows if of(row) == wanted])), []
    )


def pick_row(rows: Sequence[Row], requested: str, where: str) -> Row:
    """The one row that a name means; of a run that of its last checkpoint; the only row if no name is given.

    :param where: place of the rows, for messages
    """
    if not rows:
        raise SettingsError(
            "no finished row yet",
            fix=f"blurb run and blurb score --add make rows.{_describe_folder(requested)}",
            where=where,
        )
    fits = last_of_a_run(fitting(rows, requested))
    if not fits:
        raise unknown_row(rows, requested, f"row (in {where})")
    if len(fits) > 1:
        several = f"several rows of {requested}" if requested else "several rows"
        listed = ", ".join(f"'{row.name}'" for row in fits)
        raise SettingsError(f"{where} has {several}", fix=f"choose one: {listed}.")
    return fits[0]


def last_of_a_run(rows: list[Row]) -> list[Row]:
    """The rows of the last checkpoint, if all are of the checkpoints of one run."""
    steps = {row.name: names.run_and_step(row.model) for row in rows}
    known = {step for step in steps.values() if step is not None}
    if None in steps.values() or len({run for run, _ in known}) != 1:
        return rows
    return [row for row in rows if steps[row.name] == max(known)]


def unknown_row(rows: Sequence[Row], wanted: str, kind: str = "row") -> UnknownName:
    """The error for a name that no row has; it lists models, and of a model with several rows their names, too."""
    models = Counter(row.model for row in rows)
    sources = dict.fromkeys(row.source for row in rows if isinstance(row, Published))
    known = [*models, *(row.name for row in rows if models[row.model] > 1), *sources]
    return UnknownName(kind, wanted, known, how=_describe_folder(wanted))


def _describe_folder(wanted: str) -> str:
    """What a folder that was taken for a row lacks; "" if it is no folder."""
    with suppress(OSError):  # longer than a path can be
        if wanted and Path(wanted).is_dir() and not _holds_rows(Path(wanted)):
            return (
                f" {wanted} is a folder, but no store and no row files ({ABOUT}); if it is a checkpoint, blurb run "
                "makes its row."
            )
    return ""


def find_trial(
    reference: str, store: Path, task: str | None = None, seed: int | None = None
) -> Record:
    """The trial of a reference: its folder, or a reference to a row (`resolve`) with a dataset and a seed.

    :raises SettingsError: if it is unfinished or damaged; and what `resolve` and `trial_of` raise
    """
    folder = Path(reference)
    if task is not None:
        task = typed_task(task)
    if (folder / "spec.json").is_file():
        found = Store(folder.resolve().parent.parent.parent)
        if not found.is_done(folder):
            raise SettingsError(
                "the trial is unfinished or damaged", where=reference, fix="run it again."
            )
        record = found.read(folder)
        own, number = record.trial.task, record.trial.seed
        if resolve_name(task or own, [own]) != own or seed not in (None, number):
            raise SettingsError(
                f"the trial is a run of {own} with seed {number}",
                where=reference,
                fix=f"remove {opt('task')} and {opt('seed')}, or name its row.",
            )
        return record
    wrong = ErrorCollector()
    with wrong:
        row = resolve(reference, store)
    if wrong.errors and task is not None:  # both may be mistyped
        with wrong:
            tasks.get(task)
    wrong.stop()
    return trial_of(row, task, seed)


def trial_of(row: Row, task: str | None = None, seed: int | None = None) -> Record:
    """A finished trial of a row, with its predictions.

    :param task: name or file; None if the row has one
    :param seed: None for the first
    :raises SettingsError: or UnknownName if there is none, or `task` is needed
    """
    trials = row.records
    if not trials:
        raise SettingsError(f"{row.name} has no predictions", fix="name a row of a store.")
    if task is None and len(trials) > 1:
        raise SettingsError(f"Choose a dataset: {opt('task', ' or '.join(trials))}.")
    name = next(iter(trials)) if task is None else resolve_name(typed_task(task), trials)
    if name not in trials:
        raise UnknownName(f"dataset of {row.name}", name, trials)
    records = trials[name]
    if seed is not None and seed not in records:
        finished = ", ".join(map(str, sorted(records)))
        raise SettingsError(
            f"{row.name} has no finished run of {name} with seed {seed}; finished seeds: {finished}."
        )
    return records[min(records) if seed is None else seed]


def typed_task(task: str) -> str:
    """The name of a task that a person typed, whose file is loaded if it is one."""
    return tasks.load(task).name if task.endswith(tasks.SUFFIX) else task


def table_rows(path: Path, errors: ErrorCollector = FIRST) -> list[Row]:
    """All rows of one table, whether it is a `results.csv`, a `leaderboard.csv` or an `external.csv`.

    :param errors: gets all its faults (file, line); by default the first one is raised
    """
    columns, _ = head_of(path)
    if columns[: len(published.COLUMNS)] == published.COLUMNS:
        return [*published.read(path, errors)]
    if "metric" in columns:
        return results_csv.rows(
            line for _, line in results_csv.read_lines(path, errors, results_csv.ALIKE)
        )
    return leaderboard_csv.rows(leaderboard_csv.read_lines(path, errors), errors)


def file_rows(path: Path) -> list[Row]:
    """All rows of a `results.csv` or `leaderboard.csv`; the runs of the latter are those of the table beside it.

    :raises DataError: (file, line) if it is neither
    """
    if "metric" in head_of(path)[0]:
        return results_csv.read(path)
    lines = leaderboard_csv.read_lines(path)
    runs = _runs_of(path, lines)
    if runs is None:
        return leaderboard_csv.rows(lines)
    return label_rows(
        [*runs, *leaderboard_csv.rows([numbered for numbered in lines if numbered[1]["source"]])]
    )


def _runs_of(path: Path, lines: Sequence[Numbered]) -> list[Row] | None:
    """The rows of the long table that has all rows of a `leaderboard.csv`; None if there is none, or none is needed."""
    own = {tuple(line[column] for column in KEY) for _, line in lines if not line["source"]}
    beside = tables.results_beside(path)
    if not own or not beside.is_file():
        return None
    runs = results_csv.read_lines(beside)
    if not own <= {tuple(line[column] for column in KEY) for _, line in runs}:
        return None
    return results_csv.rows(line for _, line in runs)


def rows_of(rows: Sequence[RowReference], output: Path | str) -> list[Row]:
    """The rows of references; all faults of these are one error."""
    hits = ErrorCollector()
    meant = []
    for row in rows:
        with hits:
            meant.append(row_of(row, output))
    hits.stop()
    return meant


def row_of(row: RowReference, output: Path | str, tell: Tell = tell_damage) -> Row:
    """The row of a reference.

    :param tell: receives messages about damage in a store
    """
    if isinstance(row, str | Path):
        return resolve(str(row), Path(output), tell)
    if isinstance(row, Row):
        return row
    if len(row.rows) != 1:
        names = ", ".join(f"'{one.name}'" for one in row.rows) or "none"
        raise SettingsError(
            f"These results have {len(row.rows)} rows ({names})", fix="give one of results.rows."
        )
    return row.rows[0]
