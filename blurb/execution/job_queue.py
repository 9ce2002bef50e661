"""Whose turn it is: the trials of an engine in their order, and at the end those that other processes hold."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from blurb.execution.job import Job, TrialOutcome
from blurb.execution.progress import TrialProgress
from blurb.store.store import Store
from blurb.system import leases

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
