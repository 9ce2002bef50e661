"""The states of the trials of a store: done, running, failed or to run; from names of files, without reading trials."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from blurb.execution import sweeps
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
        if self.state in ("done", "failed"):
            return 0.0
        news = self.holder.news if self.holder else {}
        total = news.get("total") or 0.0
        return self.predicted * (1 - (news.get("done") or 0.0) / total if total else 1.0)


def read(store: Store, tell: Tell = tell_damage) -> list[TrialStanding]:
    """All trials that rows and sweeps of a store ask for, in the order of the rows.

    A trial in its place counts as done, as it was put there whole; `blurb runs verify` checks that it still is.

    :param tell: receives a message for each row and sweep that cannot be read; their trials are left out
    """

    def tell_of_sweep(error: BlurbError) -> None:
        if not isinstance(error, sweeps.NotAllowed):  # a worker reports code that may not run here
            tell(error)

    requested: dict[str, TrialStanding] = {}
    with gc_disabled():
        for row in rows.read(store, tell):
            key, text = row.key, row.configuration.text
            for task, seeds in row.trials.items():
                # Of a hundred thousand trials, paths alone take longer than all else.
                folder = f"{store.root}/{store.folder(row.model)}/{task}"
                for seed, hash_ in sorted(seeds.items()):
                    place = f"{folder}/{hash_}"
                    requested[place] = TrialStanding(
                        row.model, task, seed, place, "to run", key, text
                    )
    for job in sweeps.jobs_of(store.root, tell_of_sweep):
        model, task = job.source.name, job.trial.task
        place = f"{store.root}/{store.folder(model)}/{task}/{job.path.name}"
        known = requested.get(place) or TrialStanding(model, task, job.trial.seed, place, "to run")
        requested[place] = replace(known, predicted=job.predicted, joined=True)
    names = dict[str, frozenset[str]]()
    with gc_disabled():
        return [_look_at(store, trial, names) for trial in requested.values()]


def _look_at(store: Store, trial: TrialStanding, names: dict[str, frozenset[str]]) -> TrialStanding:
    """A trial with its current state.

    :param names: folder -> names in it, for the folders read so far; gets that of the trial
    """
    folder, _, hash_ = trial.folder.rpartition("/")
    if folder not in names:
        try:
            names[folder] = frozenset(os.listdir(folder))
        except OSError:
            names[folder] = frozenset()
    present, lease_name = names[folder], f".{hash_}{LEASE}"
    if lease_name in present and leases.seems_held(lease := store.lease(trial.path)) is not False:
        return replace(trial, state="running", holder=leases.read(lease))
    if hash_ in present:
        return replace(trial, state="done")
    failure = row_contents.failure_of(trial.path)
    trial = replace(trial, saved=checkpoints.folder_of(trial.path).name in present)
    if failure.name in present:
        return replace(trial, state="failed", message=row_contents.reason(failure))
    return trial


def seconds_left(trials: Sequence[TrialStanding]) -> float | None:
    """Predicted seconds until all are done, with as many workers as now; None if one is not predicted or none runs."""
    running = [trial for trial in trials if trial.state == "running"]
    waiting = [trial for trial in trials if trial.state in ("running", "to run")]
    if not running or not all(trial.predicted for trial in waiting):
        return None
    return max(
        sum(trial.left for trial in waiting) / len(running), max(trial.left for trial in waiting)
    )


def counts(trials: Iterable[TrialStanding]) -> dict[State, int]:
    """The number of trials in each state."""
    found = Counter(one.state for one in trials)
    return {state: found[state] for state in STATES}
