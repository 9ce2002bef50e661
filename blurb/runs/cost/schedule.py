"""Predicts when parallel trials end, before they start and while they run."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from blurb.runs.events import News


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
    news: News


@dataclass
class TimeLeft:
    """The remaining time of trials, corrected by the times of finished ones. Thread-safe.

    :param expected: task type and predicted seconds of each trial that is not done, by its key
    :param workers: number of workers
    """

    expected: Mapping[Hashable, tuple[str, float]]
    workers: int = 1
    clock: Callable[[], float] = time.monotonic
    _running: dict[Hashable, _Running] = field(default_factory=dict, init=False)
    _ended: dict[Hashable, float | None] = field(default_factory=dict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def on_progress(self, trial: Hashable, news: News) -> None:
        """Records the progress of a trial."""
        with self._lock:
            if trial in self._ended:  # told late, by another thread
                return
            if trial not in self._running:
                self._running[trial] = _Running(self.clock(), news)
            self._running[trial].news = news

    def end(self, trial: Hashable, seconds: float | None) -> None:
        """Records that a trial ended.

        :param seconds: its duration; None if it was done already or failed
        """
        with self._lock:
            self._running.pop(trial, None)
            self._ended.setdefault(trial, seconds)  # the winner of a search ends again, as done already

    def left(self) -> float:
        """Seconds until all trials have ended."""
        with self._lock:
            now = self.clock()
            busy = [
                max(0.0, self._whole(trial, now) - (now - running.since)) for trial, running in self._running.items()
            ]
            waiting = [
                seconds * self._factor(type_)
                for trial, (type_, seconds) in self.expected.items()
                if trial not in self._running and trial not in self._ended
            ]
        return wall(sorted(waiting, reverse=True), max(self.workers, len(busy)), busy)

    def _factor(self, type_: str) -> float:
        """Ratio of measured to predicted seconds of finished trials: of that type, else of all, else 1."""
        known = [(trial, seconds) for trial, seconds in self._ended.items() if seconds and trial in self.expected]
        own = [(trial, seconds) for trial, seconds in known if self.expected[trial][0] == type_]
        predicted = sum(self.expected[trial][1] for trial, _ in own or known)
        return sum(seconds for _, seconds in own or known) / predicted if predicted > 0 else 1.0

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
