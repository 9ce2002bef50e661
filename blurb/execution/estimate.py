"""What trials are expected to take: figures alone, made by `blurb.cost`, read by engines and displays."""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from blurb.execution.job import Job

LIBRARIES = 0.6e9
"""Bytes of a process that has only loaded the libraries."""


@dataclass(frozen=True)
class TrialEstimate:
    """A trial with its expected cost.

    :param seconds: 0 if it is done, or nothing is known of its time
    :param memory: peak bytes beside those of the libraries
    :param done: it is in the store, or another trial of the run is identical
    :param basis: of the seconds: finished trials, a timed step, or what the kind of learner says; "" if unknown
    """

    job: Job
    seconds: float = 0.0
    memory: float = 0.0
    done: bool = False
    basis: Literal["history", "step", "kind", ""] = ""


@dataclass(frozen=True)
class Estimate:
    """The expected cost of trials.

    :param jobs: number of trials in parallel
    """

    trials: Sequence[TrialEstimate]
    jobs: int = 1

    @property
    def waiting(self) -> list[TrialEstimate]:
        """The trials that are not done."""
        return [trial for trial in self.trials if not trial.done]

    @property
    def unknown(self) -> list[TrialEstimate]:
        """The trials of whose time nothing is known; they count as nothing."""
        return [trial for trial in self.waiting if not trial.basis]

    @property
    def tasks(self) -> dict[str, Estimate]:
        """The estimate of each task, as if it ran alone, in the order of the trials."""
        names = dict.fromkeys(trial.job.trial.task for trial in self.trials)
        return {name: self.of([name]) for name in names}

    def of(self, names: Collection[str]) -> Estimate:
        """The estimate of some tasks, as if they ran alone."""
        chosen = [trial for trial in self.trials if trial.job.trial.task in names]
        return dataclasses.replace(self, trials=chosen)

    @property
    def seconds(self) -> float:
        """Seconds until the last trial ends."""
        times = sorted((trial.seconds for trial in self.waiting), reverse=True)
        return schedule_seconds(times, self.jobs)

    @property
    def memory(self) -> float:
        """Bytes of the largest trials that may run in parallel, with their processes."""
        largest = sorted((trial.memory for trial in self.waiting), reverse=True)[: self.jobs]
        # Beside several workers the command itself has the libraries once more.
        return sum(largest) + LIBRARIES * (len(largest) + (self.jobs > 1)) if largest else 0.0


def schedule_seconds(waiting: Iterable[float], workers: int) -> float:
    """Seconds until the last trial ends, if each free worker takes the next one.

    :param waiting: seconds of the trials, in their order of start
    """
    free = [0.0] * workers
    for seconds in waiting:
        heapq.heappush(free, heapq.heappop(free) + seconds)
    return max(free)
