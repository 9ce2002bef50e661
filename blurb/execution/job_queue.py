"""Whose turn it is: the trials of an engine in their order, and at the end those that other processes hold.

Trials packed into jobs of a scheduler: many trials take seconds, and sites do not want thousands of short jobs.

Progress of a running trial, as reported by its process.
"""

from __future__ import annotations

import heapq
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from blurb.execution.job import Job, TrialOutcome
from blurb.store.store import Store
from blurb.system import leases


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

    @property
    def brief(self) -> dict[str, float | None]:
        """What others are told of a running trial (`blurb.system.lease_records.LeaseRecord.news`)."""
        return {"epoch": self.epoch, "epochs": self.epochs, "done": self.done, "total": self.total, "dev": self.dev}


class Reporter:
    """Collects the progress of a learner and passes it on, rarely enough to cost a trial nothing.

    :param tell: receives the news
    :param epochs: epochs of the trial
    :param every: seconds between two reports of steps; the first step, the last and every epoch are reported at once
    """

    def __init__(self, tell: Callable[[TrialProgress], None], epochs: int, every: float = 0.2) -> None:
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
"""Minimum time between two looks, as a multiple of what one takes: a slow disk is not to be busy with them."""


class JobQueue:
    """Hands out jobs, by index, to one or several threads.

    :param order: indices of the jobs
    :param on_finished: called when a job ends
    :param on_progress: called when a job is passed over
    """

    def __init__(
        self, jobs: Sequence[Job], order: Iterable[int], on_finished: OnFinished, on_progress: OnProgress
    ) -> None:
        self.jobs = jobs
        self.on_finished = on_finished
        self.on_progress = on_progress
        self._outcomes: dict[int, TrialOutcome] = {}
        self._first = deque(order)
        self._held: deque[int] = deque()
        self._lock = threading.Lock()

    def next(self, wait: Callable[[float], object] = time.sleep) -> int | None:
        """The next job: one that had no turn yet, else one that nobody holds any more, for which it waits.

        :param wait: sleeps for some seconds; true ends the turns
        :returns: None if there is none left
        """
        while True:
            begun = time.monotonic()
            index = self.next_free()
            if index is not None or not self.left:
                return index
            if wait(max(LOOK, SHARE * (time.monotonic() - begun))):
                return None

    def next_free(self) -> int | None:
        """The same without waiting; None also if others hold all that are left."""
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
        """Notes how the turn of a job ended; one that another process holds has another turn."""
        if outcome.status == "held":
            with self._lock:
                self._held.append(index)
            self.on_progress(self.jobs[index], TrialProgress(held_by=outcome.message))
        else:
            self._outcomes[index] = outcome
            self.on_finished(outcome)

    def told(self, index: int) -> Callable[[TrialProgress], None]:
        """Receives the progress of a job while it runs."""
        return partial(self.on_progress, self.jobs[index])

    @property
    def outcomes(self) -> list[TrialOutcome]:
        """One outcome for each job, in the order of the jobs, once all have had their turn."""
        return [self._outcomes[index] for index in range(len(self.jobs))]


def is_free(job: Job) -> bool:
    """Whether no other process runs a job; to wait for one, ask again and again."""
    try:
        return leases.is_free(Store(job.store).lease(job.path))
    except OSError:  # the job itself fails by it, and says so
        return True


def longest_first(jobs: Sequence[Job]) -> list[int]:
    """Indices of the jobs, the longest predicted time first; equal times keep their order."""
    return sorted(range(len(jobs)), key=lambda index: -jobs[index].predicted)


def pack(seconds: Sequence[float], limit: float, most: int = 0) -> list[list[int]]:
    """Indices of the trials of each part, the longest parts first.

    Trials go, the longest first, into the emptiest part, or into a new one if that has no room (worst-fit decreasing).
    One that is longer than the limit has a part of its own. Where nothing was predicted, a trial counts as a quarter of
    the limit.

    :param seconds: predicted seconds of each trial, 0 if not known
    :param limit: seconds of a part
    :param most: largest number of trials in a part; 0 is any number

    >>> pack([50, 10, 40, 200, 60], limit=100)
    [[3], [0, 2], [4, 1]]
    >>> pack([0, 0, 0, 0, 0], limit=100)
    [[0, 1, 2, 3], [4]]
    """
    expected = [one or limit / 4 for one in seconds]
    parts: list[list[int]] = []
    emptiest: list[tuple[float, int]] = []  # seconds of a part that still takes trials, and its place
    for index in sorted(range(len(expected)), key=lambda index: -expected[index]):
        used, place = emptiest[0] if emptiest else (math.inf, 0)
        if used + expected[index] <= limit:
            heapq.heappop(emptiest)
        else:
            used, place = 0.0, len(parts)
            parts.append([])
        parts[place].append(index)
        if not most or len(parts[place]) < most:
            heapq.heappush(emptiest, (used + expected[index], place))
    return sorted(parts, key=lambda part: -sum(expected[index] for index in part))
