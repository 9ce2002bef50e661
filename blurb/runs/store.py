"""Trials on disk: `<root>/<model>/<task>/<hash>/`, written to a temporary folder and renamed, `DONE.json` last.

A trial is done if and only if `DONE.json` exists and its hashes match the files in the folder. The trials of each
leaderboard row are listed in `<root>/<model>/rows/<key>.json` (`blurb.runs.rows`).
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from blurb import leases, names
from blurb.errors import StoreError, UnknownName
from blurb.files import beside, check_types, file_hash, ordinary, read_json, write_json
from blurb.leases import Lease
from blurb.protocols.settings import FIELDS
from blurb.runs import answers, provenance
from blurb.runs.figures import Figures
from blurb.runs.provenance import Provenance
from blurb.runs.spec import Trial
from blurb.tasks import SCORED, Scored, Split, Task

SCHEMA = 1
"""Schema version of the files; a store of another version is rejected, never rewritten."""
OWNERS = "models.json"
"""File in a model's folder with the model names. In stores of 53549ab several models may share a folder."""
PREDICTIONS = "predictions.parquet"
LEASE = ".lease"
ROWS_LEASE = ".rows.lease"
"""In the root of a store: of whoever changes its rows."""
NEW, OLD = "new", "old"
"""Endings of temporary folders: of a trial that is being written, and of one that is being replaced."""
LEFT_OUT = "The trial is left out"
ASIDE = (f"*.{NEW}", f"*.{OLD}", "[0-9]*")
"""What follows `.HASH.` in names of temporary folders; the last of earlier versions, which had process ids."""
SPEC: Mapping[str, type] = {
    "task": str, "weights": str, "tokenizer": str, "data": str, "settings": dict, "seed": int, "precision": str,
    "recipe": int, "plugins": dict, "learner": str,
}  # fmt: skip
"""Types of the fields of a specification."""
SETTING: Mapping[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "str": (str,)}
FILES = ("spec.json", provenance.FILE, "metrics.json", PREDICTIONS, "history.csv", "log.txt")


@dataclass(frozen=True)
class Record:
    """A finished trial; what a file of it says is read when it is asked for, as views need little of many trials.

    :param folder: of the trial
    """

    folder: str

    @cached_property
    def path(self) -> Path:
        """Its folder."""
        return Path(self.folder)

    @cached_property
    def trial(self) -> Trial:
        """Its specification; StoreError if it cannot be read, as of all files."""
        return read_spec(self.path)

    @cached_property
    def provenance(self) -> Provenance:
        """How it came about."""
        return provenance.read(self.path)

    @cached_property
    def metrics(self) -> Figures:
        """Its figures."""
        return read_metrics(self.path)

    @property
    def task(self) -> Task:
        """Its task, of a task file as it was declared then; UnknownName for that of a plug-in that is gone."""
        return self.provenance.task(self.trial.task)

    def predictions(self, split: Split) -> dict[str, list[Any]]:
        """`id`, `doc_id`, `gold` and `prediction` of the examples of a split, in stored order.

        :raises StoreError: if they cannot be read, or are no answers to the task as it was declared
        """
        columns = read_predictions(self.path / PREDICTIONS, ("id", "doc_id", "gold", "prediction"), split)
        with contextlib.suppress(UnknownName):  # of a plug-in that is not installed: nobody here knows its answers
            answers.check(self.task, columns, self.path)
        return columns

    def score(self, split: Scored, baseline: bool = False) -> float:
        """The main metric as a fraction; with `baseline` that of the majority answer."""
        figures = self.metrics["majority"] if baseline else self.metrics
        return float(figures[split][self.metrics["metric"]])


class Store:
    """A folder of trials.

    :param root: created when something is written
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._folders: dict[str, str] = {}

    def path(self, model: str, task: str, hash_: str) -> Path:
        """Folder of a trial; StoreError for what would be another place (a stranger's sweep names tasks)."""
        if not (names.TASK.fullmatch(task) and names.HASH.fullmatch(hash_)):
            raise StoreError(f"'{task}/{hash_}' is no name of a task and a trial.", where=self.root)
        return self.root / self.folder(model) / task / hash_

    def folder(self, model: str) -> str:
        """Name of the model's folder, reserved for it as soon as it has a row (`blurb.names`)."""
        if model not in self._folders:
            plain = names.plain(model)
            # Whoever has claimed it has it: no need to read all rows in it.
            self._folders[model] = plain if model in self._claimed(plain) else names.folder(model, self._owners)
        return self._folders[model]

    def claim(self, model: str) -> None:
        """Reserves the folder of a model before anything is written to it; the caller holds the store's lease."""
        self._folders.pop(model, None)  # another process may have claimed it since
        folder = self.root / self.folder(model)
        owners = self._owners(folder.name)
        if model not in owners or not (folder / OWNERS).exists():
            folder.mkdir(parents=True, exist_ok=True)
            write_json(folder / OWNERS, {"models": sorted({*owners, model})})

    def owners(self, model: str) -> set[str]:
        """The models that share the folder of a model, itself included if it has claimed it."""
        return self._owners(self.folder(model))

    def _owners(self, folder: str) -> set[str]:
        """The models that own a folder: those that claimed it, and in older stores those with rows in it."""
        owners = self._claimed(folder)
        for path in (self.root / folder / "rows").glob("*.json"):
            with contextlib.suppress(StoreError, KeyError):
                owners.add(str(read_json(path)["model"]))
        return owners

    def _claimed(self, folder: str) -> set[str]:
        """The models that have claimed a folder."""
        with contextlib.suppress(StoreError, KeyError, TypeError):
            return set(map(str, read_json(self.root / folder / OWNERS)["models"]))
        return set()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the lease under which rows are written and folders claimed."""
        self.root.mkdir(parents=True, exist_ok=True)
        with leases.held(self.root / ROWS_LEASE):
            yield

    def lease(self, path: Path) -> Path:
        """The lease file of a trial; hold it (`blurb.leases`) while writing to its folder."""
        return path.with_name(f".{path.name}{LEASE}")

    def is_done(self, path: Path) -> bool:
        """Whether a trial is finished and undamaged."""
        return not self.damage(path)

    def damage(self, path: Path) -> list[str]:
        """Files that are missing or differ from `DONE.json`; `["DONE.json"]` if that is missing."""
        try:
            done = read_json(path / "DONE.json")
        except StoreError:
            return ["DONE.json"]
        if not isinstance(done.get("sha256"), dict):
            return ["DONE.json"]
        if done.get("schema") != SCHEMA:
            raise StoreError(
                f"schema version {done.get('schema')}, but this version of blurb uses {SCHEMA}.",
                where=path,
                fix="Choose another --output folder, or use the version of blurb that wrote it.",
            )
        # `or ""`: a file that is missing in both is missing.
        found = [name for name in FILES if done["sha256"].get(name) != (_sha256(path / name) or "")]
        return found or _of_another(path)

    @contextmanager
    def writing(self, path: Path, lease: Lease | None = None) -> Iterator[Path]:
        """A temporary folder for a trial's files; `put` in place at the end, removed after an error."""
        with self.aside(path) as aside:
            yield aside
            self.put(aside, path, lease)

    @contextmanager
    def aside(self, path: Path) -> Iterator[Path]:
        """A temporary folder beside that of a trial, removed at the end; the caller holds the trial's lease."""
        self.clean(path)
        aside = beside(path, NEW)
        aside.mkdir(parents=True)
        try:
            yield aside
        finally:
            shutil.rmtree(aside, ignore_errors=True)

    def clean(self, path: Path) -> None:
        """Removes what processes without the lease of a trial left beside its folder; the caller holds the lease."""
        self.recover(path)
        for left in leftovers(path):
            shutil.rmtree(left, ignore_errors=True)

    def put(self, aside: Path, path: Path, lease: Lease | None = None, replace: bool = False) -> bool:
        """Seals the files of a trial in a temporary folder, and moves it to its place by one rename.

        :param lease: of the trial, None if nobody else can know of it
        :param replace: whether it takes the place of a trial that is finished and undamaged
        :returns: False if a finished trial is there, and stays
        :raises leases.Lost: if another process has taken the lease over; then nothing is moved
        """
        self.seal(aside)
        if lease is not None:
            lease.check()
        moved = []
        try:
            while True:
                try:
                    aside.rename(path)
                    self.note(path)
                    return True
                except OSError:  # never onto a folder with something in it
                    if not path.exists():
                        raise
                if not replace and self.is_done(path):
                    return False
                with contextlib.suppress(FileNotFoundError):  # another was quicker
                    moved.append(path.rename(beside(path, OLD)))
                if moved and not replace and self.is_done(moved[-1]):  # put there since it was looked at
                    self.recover(path)
        finally:
            self.recover(path)
            for old in moved:
                shutil.rmtree(old, ignore_errors=True)

    def recover(self, path: Path) -> None:
        """Puts a finished trial back that a process was about to replace when it was killed.

        The caller holds the trial's lease.
        """
        if path.exists():
            return
        for old in path.parent.glob(f".{path.name}.*.{OLD}"):
            if self.is_done(old):
                with contextlib.suppress(OSError):  # another was quicker
                    old.rename(path)

    def seal(self, path: Path) -> None:
        """Writes `DONE.json` with the hashes of the current files."""
        hashes = {name: _sha256(path / name) for name in FILES}
        missing = [name for name, value in hashes.items() if value is None]
        if missing:
            raise StoreError(f"cannot complete the trial, files are missing: {', '.join(missing)}.", where=path)
        write_json(path / "DONE.json", {"schema": SCHEMA, "sha256": hashes})

    def read(self, path: Path) -> Record:
        """Reads a finished trial; StoreError if one of its files cannot be read."""
        record = Record(str(path))
        _ = record.trial, record.provenance, record.metrics
        return record

    def read_spec(self, path: Path) -> Trial:
        """Reads the specification of a trial."""
        return read_spec(path)

    def note(self, path: Path) -> None:
        """Adds a trial that was sealed to the index of the store."""
        from blurb.runs import index  # it reads trials, so it imports this module

        index.of(self.root).note(path)

    def trial_folders(self) -> list[Path]:
        """Folders of all trials, finished or not, in a fixed order."""
        return sorted(path.parent for path in self.root.glob("*/*/*/spec.json") if not path.parent.name.startswith("."))


def leftovers(path: Path) -> list[Path]:
    """Temporary folders of a trial: of processes at work, or of such as were killed."""
    found = {left for ending in ASIDE for left in path.parent.glob(f".{path.name}.{ending}") if left.is_dir()}
    return sorted(found)


def read_spec(path: Path) -> Trial:
    """The specification in the folder of a trial; StoreError if it cannot be read."""
    file = path / "spec.json"
    content = read_json(file)
    check_types(content, SPEC, file)
    settings = content.get("settings", {})
    check_types(settings, {name: SETTING[str(FIELDS[name])] for name in settings if name in FIELDS}, file)
    try:
        return Trial(**content)
    except TypeError as error:
        raise StoreError(f"cannot be read by this version of blurb ({error}).", where=file) from error


def _of_another(path: Path) -> list[str]:
    """The file by which a trial is another than that which its folder is named after, if somebody put it there."""
    try:
        spec = read_spec(path)
    except StoreError:
        return ["spec.json"]
    hash_ = path.name.removeprefix(".").partition(".")[0]  # also of a folder beside it, `files.beside`
    if (spec.task, spec.hash) != (path.parent.name, hash_):
        return ["spec.json"]
    with contextlib.suppress(StoreError):  # which whoever reads it tells
        declared = provenance.read(path).declaration
        return [provenance.FILE] if declared and declared.get("name") != spec.task else []
    return []


def read_metrics(path: Path) -> Figures:
    """`metrics.json` in the folder of a trial; StoreError if it cannot be read, or a figure is no number."""
    file = path / "metrics.json"
    content = read_json(file)
    check_types(content, {"metric": str, "dev": dict, "test": dict, "majority": dict}, file)
    if any(content.get("metric") not in content.get(split, {}) for split in SCORED):
        raise StoreError(f"the main metric ('metric') is not among the figures of {' and '.join(SCORED)}.", where=file)
    majority = content.get("majority", {})
    check_types(majority, dict.fromkeys(majority, dict), file)
    for figures in (*(content.get(split, {}) for split in SCORED), *majority.values()):
        check_types(figures, dict.fromkeys(figures, (int, float)), file)
    return cast(Figures, content)


def left_out(path: Path, damage: Sequence[str]) -> StoreError:
    """The error of a damaged trial (`Store.damage`), which nothing that reads many trials raises."""
    fix = "blurb rescore repairs it." if list(damage) == ["metrics.json"] else "run its blurb run command again."
    return StoreError(f"{', '.join(damage)} missing or damaged. {LEFT_OUT}", where=path, fix=fix)


def write_predictions(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Writes `predictions.parquet`: split, id, doc_id, gold, prediction, majority, scores; one row per example."""
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table(dict(columns)), path, compression="zstd")


def read_predictions(path: Path, names: Sequence[str] | None = None, split: str | None = None) -> dict[str, list[Any]]:
    """The columns of `write_predictions`, optionally only some of them or only one split."""
    from pyarrow.parquet import ParquetFile  # neither read_table nor filter: they load pandas, a third of a second

    wanted = None if names is None else [*names] if split is None else [*dict.fromkeys((*names, "split"))]
    try:
        with open(path, "rb", opener=ordinary) as opened, ParquetFile(opened) as file:
            table = file.read(columns=wanted)
        columns: dict[str, list[Any]] = (table if names is None else table.select(list(names))).to_pydict()
        splits = [] if split is None else table["split"].to_pylist()
    except (OSError, ValueError, TypeError, LookupError, NotImplementedError) as error:  # Arrow's errors are of these
        raise StoreError(f"cannot be read: {(str(error).splitlines() or [repr(error)])[0]}", where=path) from error
    if split is None:
        return columns
    kept = [row for row, name in enumerate(splits) if name == split]
    return {name: [values[row] for row in kept] for name, values in columns.items()}


def _sha256(path: Path) -> str | None:
    try:
        return file_hash(path)
    except OSError:
        return None
