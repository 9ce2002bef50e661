"""Jobs: a trial with everything needed to run it on this machine, its progress and outcome, and a queue of jobs."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from blurb import tasks
from blurb.checkpoints import ModelSource
from blurb.data import TaskData
from blurb.execution.data_sources import DataSource
from blurb.execution.options import Keep as Keep
from blurb.formulations._base import Formulation
from blurb.learners import LearnerKind
from blurb.learners.base import Learner, Predicted, Subset
from blurb.messages import DataError
from blurb.store import plugins
from blurb.store.record import LOSS
from blurb.store.store import Store
from blurb.store.trial import Configuration, Trial
from blurb.system import leases


@dataclass(frozen=True)
class Job:
    """A trial with everything needed to run it on this machine.

    :param plugins: what a person typed (`blurb.store.plugins.typed`)
    :param predicted: predicted seconds (`blurb.cost`), 0 without an estimate
    :param keep: whether to keep the trained model
    :param resume: whether to write checkpoints, and to go on from them (`blurb.store.trial_checkpoints`)
    :param checkpointing: of activations (`blurb.training.loop.Trainer`)
    """

    trial: Trial
    source: ModelSource
    configuration: Configuration
    data: DataSource
    store: Path
    device: str
    track: str = ""
    plugins: plugins.Typed = field(default_factory=dict)
    predicted: float = 0.0
    keep: Keep = "none"
    resume: bool = False
    checkpointing: str = "auto"

    @property
    def learner(self) -> LearnerKind:
        """The kind of its learner."""
        return self.trial.kind

    @property
    def place(self) -> str:
        """The device that it runs on: the requested one, or the CPU for learners that always run there."""
        return self.device if self.learner.on_device else "cpu"

    @cached_property
    def path(self) -> Path:
        """Folder of the trial; valid for writing once the model has claimed its folder (`Store.claim`)."""
        return Store(self.store).path(self.source.name, self.trial.task, self.trial.hash)


@dataclass(frozen=True)
class TrialOutcome:
    """The result of a job; `message` is the reason if it failed, and who has the trial if it is `held`.

    "submitted": another machine will run it, `message` says where; `script` is the script for its scheduler.
    """

    job: Job
    status: Literal["done", "already done", "failed", "held", "submitted"]
    seconds: float = 0.0
    message: str = ""
    script: str = ""


def units_and_cache_key(
    formulation: Formulation, content: TaskData, split: tasks.Split
) -> tuple[list[dict[str, Any]], str]:
    """The examples of a split as the formulation cuts them, and their key in the cache of features.

    :raises DataError: if there are none: since no file is empty, a plug-in's formulation dropped all
    """
    rows = content.splits[split].to_list()  # ten times as fast as row by row
    units = formulation.units(rows)
    if not units:
        made = type(formulation)
        raise DataError(
            f"units() of {made.__module__}.{made.__qualname__} returned nothing for {content.task.name}, {split} "
            f"({len(rows)} rows); it must return at least one example."
        )
    key, code = (
        f"{content.hash} {split} {sorted(formulation.options.items())}",
        plugins.formulation_hash(content.task),
    )
    return units, f"{key} {code}" if code else key


def predictions_of(
    formulation: Formulation, learner: Learner, units: Mapping[tasks.Split, Subset]
) -> dict[str, list[Any]]:
    """The columns of `predictions.parquet` for dev and test, with the majority answer, and losses on dev if known."""
    majority = formulation.constants(units["train"].used)[0]
    columns: dict[str, list[Any]] = {
        name: []
        for name in ("split", "id", "doc_id", "gold", "prediction", "majority", "scores", LOSS)
    }
    for split in tasks.SCORED:
        rows = units[split].used
        predicted, scores, losses = Predicted(*learner.predict(units[split]))
        columns["split"] += [split] * len(rows)
        columns["id"] += [row["id"] for row in rows]
        columns["doc_id"] += [row.get("doc_id") for row in rows]
        columns["gold"] += [formulation.gold(row) for row in rows]
        columns["prediction"] += predicted
        columns["majority"] += [formulation.constant(majority, row) for row in rows]
        columns["scores"] += scores if scores is not None else [None] * len(rows)
        # As they are stored, so that scoring again gives the same figures.
        known = losses is not None and split == "dev"
        columns[LOSS] += np.asarray(losses, np.float32).tolist() if known else [None] * len(rows)
    if columns[LOSS].count(None) == len(columns[LOSS]):
        del columns[LOSS]
    return columns


@dataclass(frozen=True)
class TrialProgress:
    """Progress of a running trial.

    :param done: finished optimizer steps
    :param total: total optimizer steps; 0 before the first step and for learners without steps
    :param epoch: finished epochs
    :param epochs: total epochs, 0 for learners without epochs
    :param loss: mean loss of the last finished epoch
    :param dev: the task's metric on dev after that epoch
    :param held_by: the process of another command that runs the trial, which is waited for
    """

    done: int = 0
    total: int = 0
    epoch: int = 0
    epochs: int = 0
    loss: float | None = None
    dev: float | None = None
    held_by: str = ""


class Reporter:
    """Collects the progress of a learner and passes it on, rarely enough to cost a trial nothing.

    :param tell: receives the news
    :param epochs: epochs of the trial
    :param every: seconds between two reports of steps; the first step, the last and every epoch are reported at once
    """

    def __init__(
        self, tell: Callable[[TrialProgress], None], epochs: int, every: float = 0.2
    ) -> None:
        self.tell = tell
        self.every = every
        self.news = TrialProgress(epochs=epochs)
        self.told = time.monotonic()
        tell(self.news)

    def step(self, done: int, total: int) -> None:
        """Call after every optimizer step."""
        self.news = replace(self.news, done=done, total=total)
        if done in (1, total) or time.monotonic() - self.told >= self.every:
            self._tell()

    def epoch(self, values: Mapping[str, float | None], epoch: int) -> None:
        """Call after every epoch; test scores, which come later, are ignored."""
        if "loss" in values:
            self.news = replace(self.news, epoch=epoch, loss=values["loss"], dev=values.get("dev"))
            self._tell()

    def _tell(self) -> None:
        self.told = time.monotonic()
        self.tell(self.news)


OnFinished = Callable[[TrialOutcome], None]
OnProgress = Callable[[Job, TrialProgress], None]

LOOK = 2.0
"""Seconds between two looks whether a trial has become free."""
SHARE = 10
"""Minimum time between two looks, as a multiple of the time of one: they must not keep a slow disk busy."""


class JobQueue:
    """Hands out jobs, by index, to one or several threads.

    :param order: indices of the jobs
    :param on_finished: called when a job ends
    :param on_progress: called when a job is passed over
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        order: Iterable[int],
        on_finished: OnFinished,
        on_progress: OnProgress,
    ) -> None:
        self.jobs = jobs
        self.on_finished = on_finished
        self.on_progress = on_progress
        self._outcomes: dict[int, TrialOutcome] = {}
        self._first = deque(order)
        self._held: deque[int] = deque()
        self._lock = threading.Lock()

    def next(self, wait: Callable[[float], object] = time.sleep) -> int | None:
        """The next job: one without a turn so far, else one that nobody holds any more; waits for it.

        :param wait: sleeps for some seconds; true ends the turns
        :returns: None if there is none left
        """
        while True:
            started = time.monotonic()
            index = self.next_free()
            if index is not None or not self.left:
                return index
            if wait(max(LOOK, SHARE * (time.monotonic() - started))):
                return None

    def next_free(self) -> int | None:
        """As `next` without waiting; None also if others hold all jobs that are left."""
        with self._lock:
            if self._first:
                return self._first.popleft()
            for _ in range(len(self._held)):
                index = self._held.popleft()
                if is_free(self.jobs[index]):
                    return index
                self._held.append(index)
        return None

    @property
    def left(self) -> int:
        """Number of jobs that wait for a turn."""
        return len(self._first) + len(self._held)

    def end(self, index: int, outcome: TrialOutcome) -> None:
        """Records the outcome of a job's turn; a job held by another process gets another turn."""
        if outcome.status == "held":
            with self._lock:
                self._held.append(index)
            self.on_progress(self.jobs[index], TrialProgress(held_by=outcome.message))
        else:
            self._outcomes[index] = outcome
            self.on_finished(outcome)

    def reporter_of(self, index: int) -> Callable[[TrialProgress], None]:
        """Receives the progress of a job while it runs."""
        return partial(self.on_progress, self.jobs[index])

    @property
    def outcomes(self) -> list[TrialOutcome]:
        """One outcome for each job, in the order of the jobs, once all have had their turn."""
        return [self._outcomes[index] for index in range(len(self.jobs))]


def is_free(job: Job) -> bool:
    """Whether no other process runs a job; to wait for one, call it repeatedly."""
    try:
        return leases.remove_if_stale(Store(job.store).lease(job.path))
    except OSError:  # the job itself fails with it, and says so
        return True


def longest_first(jobs: Sequence[Job]) -> list[int]:
    """Indices of the jobs, the longest predicted time first; equal times keep their order."""
    return sorted(range(len(jobs)), key=lambda index: -jobs[index].predicted)
