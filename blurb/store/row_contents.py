"""The contents of a store: the trials of a row with their state and size, and those that no row has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from blurb.messages import StoreError
from blurb.store import index
from blurb.store.record import Record
from blurb.store.row_trials import RowTrials
from blurb.store.store import Store
from blurb.system import leases
from blurb.system.files import read_json, size_of
from blurb.tasks import ScoredSplit

State = Literal["done", "running", "failed", "damaged", "to run"]
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True)
class TrialState:
    """A trial that a row has asked for.

    :param message: why it failed, or which files are damaged
    :param size: bytes of its folder
    :param record: of a finished trial
    """

    task: str
    seed: int
    path: Path
    state: State
    message: str = ""
    size: int = 0
    record: Record | None = None

    @property
    def seconds(self) -> float | None:
        """Seconds of training and prediction, of a finished trial."""
        made = None if self.record is None else self.record.provenance
        return (
            None if made is None else sum(filter(None, (made.train_seconds, made.predict_seconds)))
        )

    def score(self, split: ScoredSplit) -> float | None:
        """The score times 100; None if there is none: predictions from elsewhere may be of test only."""
        record = self.record
        return None if record is None or not record.metrics[split] else 100 * record.score(split)


def trials(store: Store, row: RowTrials) -> list[TrialState]:
    """The trials of a row by task and seed."""
    known = index.read_facts(store, map(index.key_of, paths(store, row)), lambda damage: None)
    return [
        _state_of_trial(store, task, seed, path, index.key_of(path) in known)
        for task, seeds in row.trials.items()
        for seed, hash_ in sorted(seeds.items())
        for path in [store.path(row.model, task, hash_)]
    ]


def paths(store: Store, row: RowTrials) -> list[Path]:
    """The folders of the trials of a row, whether they exist or not."""
    return [
        store.path(row.model, task, hash_)
        for task, seeds in row.trials.items()
        for hash_ in seeds.values()
    ]


def unlisted(store: Store, rows: Iterable[RowTrials]) -> list[Path]:
    """The trials in none of the rows: those of searches, and seeds replaced by newer ones."""
    listed = {path for row in rows for path in paths(store, row)}
    return [path for path in store.trial_folders() if path not in listed]


def is_running(store: Store, path: Path) -> bool:
    """Whether a process holds the lease of a trial, as far as one look can tell.

    In a read-only store, a lease of another machine counts unless the trial exists.
    """
    held = leases.seems_held(store.lease(path))
    return not path.exists() if held is None else held


def failure_of(path: Path) -> Path:
    """The file with the reason why a trial failed."""
    return path.with_name(f"{path.name}.failed.json")


def _state_of_trial(store: Store, task: str, seed: int, path: Path, is_whole: bool) -> TrialState:
    size = size_of(path) if path.is_dir() else 0
    if is_running(store, path):
        return TrialState(task, seed, path, "running", size=size)
    if path.exists():
        try:
            if not is_whole and (damage := store.damage(path)):
                return TrialState(task, seed, path, "damaged", ", ".join(damage), size)
            record = Record(str(path)) if is_whole else store.read(path)
            return TrialState(task, seed, path, "done", size=size, record=record)
        except StoreError as error:
            return TrialState(task, seed, path, "damaged", str(error), size)
    if failure_of(path).exists():
        return TrialState(task, seed, path, "failed", reason(failure_of(path)))
    return TrialState(task, seed, path, "to run")


def reason(path: Path) -> str:
    """The error in a file of a failure (`failure_of`)."""
    try:
        return str(read_json(path).get("message", ""))
    except StoreError as error:
        return str(error)
