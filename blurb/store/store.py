"""Trials on disk: `<root>/<model>/<task>/<hash>/`, written to a temporary folder and renamed, `DONE.json` last.

A trial is done if and only if `DONE.json` exists and its hashes match the files in the folder. The trials of each
leaderboard row are listed in `<root>/<model>/rows/<key>.json` (`blurb.store.row_trials`).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from blurb import names
from blurb.messages import StoreError, opt, with_effect
from blurb.store.record import PREDICTIONS, Record, foreign_files
from blurb.store.trial import PROVENANCE, from_json
from blurb.system import leases
from blurb.system.files import file_hash, hidden_name, read_json, write_json

OWNERS = "models.json"
"""File in a model's folder with the names of the models that have claimed it."""
LEASE = ".lease"
ROWS_LEASE = ".rows.lease"
"""Lease in the root of a store, held by a process that changes its rows."""
QUEUE = ".queue"
"""In the root of a store: the checkpoints that a `BlurbCallback` keeps until they are scored."""
NEW, OLD = "new", "old"
"""Endings of temporary folders: of a trial that is being written, and of one that is being replaced."""
LEFT_OUT = "The trial is left out"
FILES = ("spec.json", PROVENANCE, "metrics.json", PREDICTIONS, "history.csv", "log.txt")


@dataclass(frozen=True)
class FolderOwners:
    """The content of `models.json`."""

    models: Sequence[str]


class Store:
    """A folder of trials.

    :param root: created when something is written
    :raises StoreError: if there is one of another schema
    """

    def __init__(self, root: Path) -> None:
        check_schema(root)
        self.root = root
        self._folders: dict[str, str] = {}

    def check_exists(self) -> None:
        """Raises a StoreError if there is no such folder."""
        if not self.root.is_dir():
            raise StoreError(f"There is no store at {self.root}", fix=f"check {opt('output')}.")

    def path(self, model: str, task: str, hash_: str) -> Path:
        """Folder of a trial; StoreError for an invalid task or hash (a stranger's sweep names tasks)."""
        if not (names.TASK.fullmatch(task) and names.HASH.fullmatch(hash_)):
            raise StoreError(f"'{task}/{hash_}' is no name of a task and a trial.", where=self.root)
        return self.root / self.folder(model) / task / hash_

    def folder(self, model: str) -> str:
        """Name of the model's folder, reserved for it as soon as it has a row (`blurb.names`)."""
        if model not in self._folders:
            self._folders[model] = names.folder(model, self._owners)
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
        """The models that have claimed a folder; StoreError if the file that says so cannot be read."""
        file = self.root / folder / OWNERS
        try:
            return set(from_json(FolderOwners, read_json(file), file).models)
        except StoreError as error:
            if isinstance(error.__cause__, FileNotFoundError | NotADirectoryError):
                return set()
            # Taken for nobody's, a row would be looked for in another folder, or lose its own to a namesake.
            raise with_effect(
                error, "Nobody knows whose trials are in this folder", "remove this file."
            ) from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the lease under which rows are written and folders claimed."""
        begin_store(self.root)
        with leases.held(self.root / ROWS_LEASE):
            yield

    def lease(self, path: Path) -> Path:
        """The lease file of a trial; hold it (`blurb.system.leases`) while writing to its folder."""
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
        # `or ""`: a file that is missing in both is missing.
        return [
            name for name in FILES if done["sha256"].get(name) != (_hash_or_none(path / name) or "")
        ] or foreign_files(path)

    @contextmanager
    def writing(self, path: Path, lease: leases.Lease | None = None) -> Iterator[Path]:
        """A temporary folder for a trial's files; `put` in place at the end, removed after an error."""
        with self.aside(path) as aside:
            yield aside
            self.put(aside, path, lease)

    @contextmanager
    def aside(self, path: Path) -> Iterator[Path]:
        """A temporary folder beside that of a trial, removed at the end; the caller holds the trial's lease."""
        begin_store(self.root)
        self.clean(path)
        aside = hidden_name(path, NEW)
        aside.mkdir(parents=True)
        try:
            yield aside
        finally:
            shutil.rmtree(aside, ignore_errors=True)

    def clean(self, path: Path) -> None:
        """Removes what other processes left beside the folder of a trial; the caller holds its lease."""
        self.recover(path)
        for left in leftover_folders(path):
            shutil.rmtree(left, ignore_errors=True)

    def put(
        self, aside: Path, path: Path, lease: leases.Lease | None = None, replace: bool = False
    ) -> bool:
        """Seals the files of a trial in a temporary folder, and moves it to its place by one rename.

        :param lease: of the trial, None if nobody else can know of it
        :param replace: whether to replace a trial that is finished and undamaged
        :returns: False if a finished trial exists and is kept
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
                    return True
                except OSError:  # never onto a folder with something in it
                    if not path.exists():
                        raise
                if not replace and self.is_done(path):
                    return False
                with suppress(FileNotFoundError):  # another was quicker
                    moved.append(path.rename(hidden_name(path, OLD)))
                # Another process put it there in the meantime.
                if moved and not replace and self.is_done(moved[-1]):
                    self.recover(path)
        finally:
            self.recover(path)
            for old in moved:
                shutil.rmtree(old, ignore_errors=True)

    def recover(self, path: Path) -> None:
        """Restores a finished trial that a killed process was about to replace.

        The caller holds the trial's lease.
        """
        if path.exists():
            return
        for old in path.parent.glob(f".{path.name}.*.{OLD}"):
            if self.is_done(old):
                with suppress(OSError):  # another was quicker
                    old.rename(path)

    def seal(self, path: Path) -> None:
        """Writes `DONE.json` with the hashes of the current files."""
        hashes = {name: _hash_or_none(path / name) for name in FILES}
        missing = [name for name, value in hashes.items() if value is None]
        if missing:
            raise StoreError(
                f"cannot complete the trial, files are missing: {', '.join(missing)}.", where=path
            )
        write_json(path / "DONE.json", {"sha256": hashes})

    def read(self, path: Path) -> Record:
        """Reads a finished trial; StoreError if one of its files cannot be read."""
        record = Record(str(path))
        _ = record.trial, record.provenance, record.metrics
        return record

    def hash_folders(self) -> list[Path]:
        """All that has the name of a trial, in a fixed order, also without a spec.json."""
        return sorted(path for path in self.root.glob("*/*/*") if names.HASH.fullmatch(path.name))

    def trial_folders(self) -> list[Path]:
        """Folders of all trials, finished or not, in a fixed order."""
        return sorted(
            path.parent
            for path in self.root.glob("*/*/*/spec.json")
            if not path.parent.name.startswith(".")
        )


def leftover_folders(path: Path) -> list[Path]:
    """Temporary folders of a trial, of running or killed processes."""
    return sorted(
        {
            left
            for ending in (NEW, OLD)
            for left in path.parent.glob(f".{path.name}.*.{ending}")
            if left.is_dir()
        }
    )


def left_out(path: Path, damage: Sequence[str]) -> StoreError:
    """The error of a damaged trial (`Store.damage`); code that reads many trials does not raise it."""
    return StoreError(
        f"{', '.join(damage)} missing or damaged. {LEFT_OUT}",
        where=path,
        fix="blurb rescore repairs it."
        if list(damage) == ["metrics.json"]
        else "run its blurb run command again.",
    )


def _hash_or_none(path: Path) -> str | None:
    try:
        return file_hash(path)
    except OSError:
        return None


SCHEMA = 1
SCHEMA_FILE = "store.json"
CONVERT = "rewrite it once with python -m benchmarks.to_schema_1, in a clone of blurb's repository."
UPDATE = "update blurb, as a newer one wrote it."


def check_schema(root: Path) -> None:
    """Raises a StoreError for a store of another version; a folder without trials may become one of this."""
    path = root / SCHEMA_FILE
    if not path.exists():
        if any(root.glob("*/rows/*.json")):
            raise StoreError(
                f"a store of before schema {SCHEMA} (it has no {SCHEMA_FILE})",
                where=root,
                fix=CONVERT,
            )
        return
    version = read_json(path).get("schema")
    if type(version) is not int or version < SCHEMA:
        raise StoreError(
            f"no schema version of a store (got {str(version)[:20]!r})", where=path, fix=CONVERT
        )
    if version > SCHEMA:
        raise StoreError(
            f"a store of schema version {version}; this version of blurb reads {SCHEMA}",
            where=root,
            fix=UPDATE,
        )


def begin_store(root: Path) -> None:
    """Makes a folder a store of this version; StoreError if it is one of another."""
    check_schema(root)
    if not (root / SCHEMA_FILE).exists():
        root.mkdir(parents=True, exist_ok=True)
        write_json(root / SCHEMA_FILE, {"schema": SCHEMA})
