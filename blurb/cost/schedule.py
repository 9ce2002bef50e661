"""Predicts when parallel trials end, before they start and while they run."""

from __future__ import annotations

import heapq
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from blurb.execution.progress import TrialProgress

MANY = 1_000
"""Trials that wait whose schedule is worth working out; of more, the sum is as good."""
ALL = ""
"""Stands for all types together; none has this name."""


def wall(waiting: Iterable[float], workers: int, busy: Iterable[float] = ()) -> float:
    """Seconds until the last trial ends, if each free worker takes the next one.

    :param waiting: seconds of the trials, in their order of start
    :param workers: number of workers
    :param busy: seconds until each busy worker is free
    """
    free = sorted(busy)
    free += [0.0] * (workers - len(free))
    heapq.heapify(free)
    for seconds in waiting:
        heapq.heappush(free, heapq.heappop(free) + seconds)
    return max(free)


@dataclass
class _Running:
    since: float
    news: TrialProgress


@dataclass
class TimeLeft:
    """The remaining time of trials, corrected by the times of finished ones. Thread-safe.

    It is asked for after every trial, so nothing here takes longer the more trials have ended; of more than `MANY` that
    wait, only their sum counts, and not how workers would share them.

    :param expected: task type and predicted seconds of each trial that is not done, by its key
    :param workers: number of workers
    """

    expected: Mapping[Hashable, tuple[str, float]]
    workers: int = 1
    clock: Callable[[], float] = time.monotonic
    _running: dict[Hashable, _Running] = field(default_factory=dict, init=False)
    _ended: set[Hashable] = field(default_factory=set, init=False)
    _waiting: dict[Hashable, tuple[str, float]] = field(default_factory=dict, init=False)
    _sums: dict[str, float] = field(default_factory=lambda: defaultdict(float), init=False)
    _measured: dict[str, float] = field(default_factory=lambda: defaultdict(float), init=False)
    _predicted: dict[str, float] = field(default_factory=lambda: defaultdict(float), init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __post_init__(self) -> None:
        self._waiting = dict(self.expected)
        for type_, seconds in self._waiting.values():
            self._sums[type_] += seconds

    def _begin(self, trial: Hashable) -> None:
        """A trial waits no more."""
        if trial in self._waiting:
            type_, seconds = self._waiting.pop(trial)
            self._sums[type_] -= seconds

    def on_progress(self, trial: Hashable, news: TrialProgress) -> None:
        """Records the progress of a trial."""
        with self._lock:
            if trial in self._ended:  # told late, by another thread
                return
            if trial not in self._running:
                self._running[trial] = _Running(self.clock(), news)
                self._begin(trial)
            self._running[trial].news = news

    def end(self, trial: Hashable, seconds: float | None) -> None:
        """Records that a trial ended.

        :param seconds: its duration; None if it was done already or failed
        """
        with self._lock:
            self._running.pop(trial, None)
            self._begin(trial)
            if trial in self._ended:  # the winner of a search ends again, as done already
                return
            self._ended.add(trial)
            if seconds and trial in self.expected:
                type_, predicted = self.expected[trial]
                for name in (type_, ALL):
                    self._measured[name] += seconds
                    self._predicted[name] += predicted

    def left(self) -> float:
        """Seconds until all trials have ended."""
        with self._lock:
            now = self.clock()
            busy = [
                max(0.0, self._whole(trial, now) - (now - running.since)) for trial, running in self._running.items()
            ]
            workers = max(self.workers, len(busy))
            factors = {type_: self._factor(type_) for type_ in self._sums}
            if len(self._waiting) > MANY:
                whole = sum(seconds * factors[type_] for type_, seconds in self._sums.items())
                return max((whole + sum(busy)) / workers, *busy, 0.0)
            waiting = [seconds * factors[type_] for type_, seconds in self._waiting.values()]
        return wall(sorted(waiting, reverse=True), workers, busy)

    def _factor(self, type_: str) -> float:
        """Ratio of measured to predicted seconds of finished trials: of that type, else of all, else 1."""
        name = type_ if type_ in self._measured else ALL
        return self._measured[name] / self._predicted[name] if self._predicted[name] > 0 else 1.0

    def _whole(self, trial: Hashable, now: float) -> float:
        """Total seconds of a running trial: first as predicted, then more and more from its own steps.

        Steps are assumed to take the same fraction of the trial as in a typical one.
        """
        type_, seconds = self.expected.get(trial, ("", 0.0))
        seconds *= self._factor(type_)
        news, gone = self._running[trial].news, now - self._running[trial].since
        share = news.done / news.total if news.total else 0.0
        if share <= 0:
            return max(seconds, gone)
        if seconds <= 0:
            return gone / share
        return max(gone, (1 - share) * seconds + share * gone / share)
