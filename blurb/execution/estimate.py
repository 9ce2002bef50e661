"""The expected cost of trials: figures only, made by `blurb.cost`, read by engines and displays.

The time left of many trials follows from these, and from their own updates. The memory that a trial needs at its peak
follows from the sizes of its encoder and of its largest batch.
"""

from __future__ import annotations

import heapq
import statistics
import time
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from blurb import formulations, tasks
from blurb.execution.job import Job
from blurb.grouping import by_key

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
        """The trials of unknown time; they count as nothing."""
        return [trial for trial in self.waiting if not trial.basis]

    @property
    def tasks(self) -> dict[str, Estimate]:
        """The estimate of each task, as if it ran alone, in the order of the trials."""
        names = dict.fromkeys(trial.job.trial.task for trial in self.trials)
        return {name: self.of([name]) for name in names}

    def of(self, names: Collection[str]) -> Estimate:
        """The estimate of some tasks, as if they ran alone."""
        return replace(
            self, trials=[trial for trial in self.trials if trial.job.trial.task in names]
        )

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


@dataclass
class TimeLeft:
    """Expects trials to take their predicted time, times the median ratio of those that have ended or are running.

    A trial without prediction takes as long as the median one of its model and task, else of all.

    :param groups: key of each trial that is left -> its model and task
    :param predicted: key -> seconds; 0 if unknown
    :param lanes: trials that run at a time
    :ivar running: key -> time of the start, and expected seconds by its own updates, 0 before the first
    :ivar ended: (key, group, seconds) of the trials that ran
    """

    groups: dict[Hashable, Hashable]
    predicted: Mapping[Hashable, float]
    lanes: int
    running: dict[Hashable, tuple[float, float]] = field(default_factory=dict)
    ended: list[tuple[Hashable, Hashable, float]] = field(default_factory=list)

    def note_progress(self, key: Hashable, done: int, total: int) -> None:
        """Records the updates of a running trial."""
        now = time.monotonic()
        start = self.running.get(key, (now, 0.0))[0]
        self.running[key] = start, (now - start) * total / done if done else 0.0

    def note_end(self, key: Hashable, seconds: float) -> None:
        """Records that a trial is over; 0 seconds if it did not run here."""
        self.running.pop(key, None)
        if key in self.groups and seconds:
            self.ended.append((key, self.groups[key], seconds))
        self.groups.pop(key, None)

    @property
    def seconds(self) -> float | None:
        """Seconds until the last trial ends; None if nothing is known yet."""
        now = time.monotonic()
        own = {key: seconds for key, (_, seconds) in self.running.items() if seconds}
        measured = [*self.ended, *((key, self.groups.get(key), own[key]) for key in own)]
        # Medians: one trial on a busy machine must not stretch all that follow.
        ratios = [x / self.predicted[key] for key, _, x in measured if self.predicted.get(key)]
        pace = statistics.median(ratios or [1.0])
        by_group = by_key((group, seconds) for _, group, seconds in measured)
        medians = {group: statistics.median(times) for group, times in by_group.items()}
        usual = statistics.median(x for *_, x in measured) if measured else 0.0
        left = []
        for key, group in self.groups.items():
            seconds = own.get(key) or pace * self.predicted.get(key, 0.0)
            start = self.running[key][0] if key in self.running else now
            left.append((seconds or medians.get(group, usual)) - (now - start))
        if not measured and not any(self.predicted.get(key) for key in self.groups):
            return None
        return schedule_seconds(sorted((max(0.0, x) for x in left), reverse=True), self.lanes)


TRAINED = 16
"""Bytes of a parameter that learns: weight, gradient and AdamW's two moments, in float32."""


def trial_memory(job: Job, longest: int = 0) -> float:
    """Bytes of weights and of the largest batch, beside those of the libraries; 0 without an encoder.

    :param longest: sub-tokens of the longest input; 0 counts no batch, which gives what is needed at least
    """
    if not job.learner.reads_checkpoint:
        return 0.0
    settings = formulations.bind(tasks.load(job.data.task), job.trial.settings).settings
    if not job.learner.backward:
        return 4.0 * job.source.parameters
    half = job.trial.precision == "bf16"
    weight = TRAINED
    if settings.adapter != "off":  # what learns is small; frozen weights stay in their own type
        weight = 2 if half and job.source.checkpoint.weights.dtype == "bfloat16" else 4
    if not longest:
        return float(weight * job.source.parameters)
    shape = job.source.checkpoint.size
    # 34 + 5 length / 64 bytes for each value of a layer's input in half precision, with heads of 64 values:
    # Korthikanti et al. (arXiv 2205.05198), section 4.1. Twice that in float32.
    layer = settings.batch_size * longest * shape.hidden * (34 + 5 * longest / 64) * (2 - half)
    layers = 1 if job.checkpointing == "on" else max(1, shape.layers)
    return weight * job.source.parameters + layers * layer
