"""Where the trials of a store stand: done, running, failed or to run; from names of files, without reading trials."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, get_args

from blurb.execution import sweeps
from blurb.execution.allowed import NotAllowed
from blurb.messages import BlurbError, Tell, tell_damage
from blurb.store import row_contents, row_trials as rows, trial_checkpoints as checkpoints
from blurb.store.store import LEASE, Store
from blurb.system import leases
from blurb.system.lease_records import LeaseRecord
from blurb.system.process import gc_disabled

State = Literal["done", "running", "failed", "to run"]
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True)
class TrialStanding:
    """A trial that was asked for.

    :param folder: of the trial
    :param row: key of its row; "" for a trial of a search
    :param configuration: of the row, as in tables
    :param message: why it failed
    :param holder: who runs it
    :param saved: whether it goes on from a checkpoint
    :param predicted: seconds, 0 if not known
    :param joined: whether a sweep has it, so that workers can run it without its command
    """

    model: str
    task: str
    seed: int
    folder: str
    state: State
    row: str = ""
    configuration: str = ""
    message: str = ""
    holder: LeaseRecord | None = None
    saved: bool = False
    predicted: float = 0.0
    joined: bool = False

    @property
    def path(self) -> Path:
        """Its folder."""
        return Path(self.folder)

    @property
    def left(self) -> float:
        """Predicted seconds until it is done."""
        if self.state == "done" or self.state == "failed":
            return 0.0
        news = self.holder.news if self.holder else {}
        total = news.get("total") or 0.0
        return self.predicted * (1 - (news.get("done") or 0.0) / total if total else 1.0)


@dataclass(frozen=True)
class _Trial:
    row: str
    configuration: str
    model: str
    seed: int


Key = tuple[str, str, str]
"""Folder of the model, task and hash: of a hundred thousand trials, paths alone take longer than all else."""


def read(store: Store, tell: Tell = tell_damage) -> list[TrialStanding]:
    """All trials that rows and sweeps of a store ask for, in the order of the rows.

    A trial that is in its place counts as done: it was put there whole. Whether it still is, `blurb runs verify` tells.

    :param tell: receives a message for each row and sweep that cannot be read; their trials are not among these
    """

    def tell_of_sweep(error: BlurbError) -> None:
        if not isinstance(error, NotAllowed):  # of code that may not run here a worker tells
            tell(error)

    predicted: dict[Key, float] = {}
    with gc_disabled():
        requested = dict(_row_states(store, tell))
    for job in sweeps.jobs_of(store.root, tell_of_sweep):
        key = store.folder(job.source.name), job.trial.task, job.path.name
        predicted[key] = job.predicted
        requested.setdefault(key, _Trial("", "", job.source.name, job.trial.seed))
    root, names = str(store.root), dict[str, frozenset[str]]()
    with gc_disabled():
        return [
            _standing_of(store, f"{root}/{key[0]}/{key[1]}", key, one, names, predicted.get(key))
            for key, one in requested.items()
        ]


def _row_states(store: Store, tell: Tell) -> Iterator[tuple[Key, _Trial]]:
    for row in rows.read(store, tell):
        key, configuration, folder = row.key, row.configuration.text, store.folder(row.model)
        for task, seeds in row.trials.items():
            for seed, hash_ in sorted(seeds.items()):
                yield (folder, task, hash_), _Trial(key, configuration, row.model, seed)


def _standing_of(
    store: Store,
    folder: str,
    key: Key,
    trial: _Trial,
    names: dict[str, frozenset[str]],
    predicted: float | None,
) -> TrialStanding:
    """
    :param folder: of the task
    :param names: what lies in the folders that were looked at
    :param predicted: seconds, None if no sweep has the trial
    """
    if folder not in names:
        try:
            names[folder] = frozenset(os.listdir(folder))
        except OSError:
            names[folder] = frozenset()
    _, task, hash_ = key
    present, lease_name = names[folder], f".{hash_}{LEASE}"
    place = (trial.model, task, trial.seed, f"{folder}/{hash_}")
    standing = partial(TrialStanding, *place, row=trial.row, configuration=trial.configuration)
    if hash_ in present and lease_name not in present:
        return standing(state="done")
    path = Path(folder, hash_)
    joined, predicted, lease = predicted is not None, predicted or 0.0, store.lease(path)
    if lease_name in present and leases.seems_held(lease) is not False:
        return standing(state="running", holder=leases.read(lease), predicted=predicted)
    if hash_ in present:
        return standing(state="done")
    saved = checkpoints.folder_of(path).name in present
    failure = row_contents.failure_of(path)
    if failure.name in present:
        return standing(
            state="failed", message=row_contents.reason(failure), saved=saved, joined=joined
        )
    return standing(state="to run", saved=saved, predicted=predicted, joined=joined)


def seconds_left(trials: Sequence[TrialStanding]) -> float | None:
    """Predicted seconds until all are done, with as many workers as now; None if nothing is known or nobody works."""
    running = [trial for trial in trials if trial.state == "running"]
    waiting = [trial for trial in trials if trial.state in ("running", "to run")]
    if not running or not all(trial.predicted for trial in waiting):
        return None
    return max(
        sum(trial.left for trial in waiting) / len(running), max(trial.left for trial in waiting)
    )


def counts(trials: Iterable[TrialStanding]) -> dict[State, int]:
    """The number of trials in each state."""
    found = dict.fromkeys(STATES, 0)
    for one in trials:
        found[one.state] += 1
    return found
