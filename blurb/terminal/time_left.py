"""The time left of many trials, from what they were predicted to take and from their own updates."""

from __future__ import annotations

import statistics
import time
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from blurb.execution.estimate import schedule_seconds
from blurb.grouping import by_key


@dataclass
class TimeLeft:
    """Expects trials to take as long as they were predicted, times the median ratio of those that are over or run.

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
        # Medians: one trial beside which the machine was busy must not stretch all that follow.
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
