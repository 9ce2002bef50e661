"""When trials that run beside one another end: before they start, and while they run."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from blurb.runs.news import News


def wall(waiting: Iterable[float], lanes: int, busy: Iterable[float] = ()) -> float:
    """Seconds until the last trial ends; whichever lane is free takes the next one.

    :param waiting: seconds of the trials, in the order in which they start
    :param lanes: trials at a time
    :param busy: seconds until each lane is free that is not free now
    """
    free = sorted(busy)
    free += [0.0] * (lanes - len(free))
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
    """The time left of trials, corrected by what those that ended took. Safe to be told by several threads.

    :param expected: type of task and predicted seconds by the folder of a trial; those that are done are not in it
    :param lanes: trials at a time
    """

    expected: Mapping[Path, tuple[str, float]]
    lanes: int = 1
    clock: Callable[[], float] = time.monotonic
    _running: dict[Path, _Running] = field(default_factory=dict, init=False)
    _ended: dict[Path, float | None] = field(default_factory=dict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def hear(self, path: Path, news: News) -> None:
        """How far a trial is."""
        with self._lock:
            if path in self._ended:  # told late, by another thread
                return
            if path not in self._running:
                self._running[path] = _Running(self.clock(), news)
            self._running[path].news = news

    def end(self, path: Path, seconds: float | None) -> None:
        """A trial ended.

        :param seconds: None if it did not take what such a trial takes: it was done already, or failed
        """
        with self._lock:
            self._running.pop(path, None)
            self._ended[path] = seconds

    def left(self) -> float:
        """Seconds until all have ended."""
        with self._lock:
            now = self.clock()
            busy = [max(0.0, self._whole(path, now) - (now - running.since)) for path, running in self._running.items()]
            waiting = [
                seconds * self._factor(type_)
                for path, (type_, seconds) in self.expected.items()
                if path not in self._running and path not in self._ended
            ]
        return wall(sorted(waiting, reverse=True), max(self.lanes, len(busy)), busy)

    def _factor(self, type_: str) -> float:
        """Measured to predicted seconds of the trials that ended: of that type, else of all, else 1."""
        known = [(path, seconds) for path, seconds in self._ended.items() if seconds and path in self.expected]
        own = [(path, seconds) for path, seconds in known if self.expected[path][0] == type_]
        predicted = sum(self.expected[path][1] for path, _ in own or known)
        return sum(seconds for _, seconds in own or known) / predicted if predicted > 0 else 1.0

    def _whole(self, path: Path, now: float) -> float:
        """Seconds that a trial that runs takes in all: as predicted at its start, as its own steps say near their end.

        Its steps take the share of it that they take of a typical one; what comes after them is not counted.
        """
        type_, seconds = self.expected.get(path, ("", 0.0))
        seconds *= self._factor(type_)
        news, gone = self._running[path].news, now - self._running[path].since
        share = news.done / news.total if news.total else 0.0
        if share <= 0:
            return max(seconds, gone)
        if seconds <= 0:
            return gone / share
        return max(gone, (1 - share) * seconds + share * gone / share)
