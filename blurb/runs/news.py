"""How far a trial is, as its process tells it to whoever waits."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class News:
    """What is known of a trial that runs.

    :param done: optimizer steps
    :param total: optimizer steps in all, 0 before the first and for what has none
    :param epoch: epochs that ended
    :param epochs: in all, 0 where there are none
    :param loss: mean of the last epoch that ended
    :param dev: the task's metric on dev after it
    """

    done: int = 0
    total: int = 0
    epoch: int = 0
    epochs: int = 0
    loss: float | None = None
    dev: float | None = None


class Reporter:
    """Gathers what a learner and its loop tell, and passes it on, seldom enough to cost a trial nothing.

    :param tell: is given the news
    :param epochs: of the trial
    :param every: seconds between two steps that are told; the first, the last and every epoch are told at once
    """

    def __init__(self, tell: Callable[[News], None], epochs: int, every: float = 0.2) -> None:
        self.tell = tell
        self.every = every
        self.news = News(epochs=epochs)
        self.told = time.monotonic()
        tell(self.news)

    def step(self, done: int, total: int) -> None:
        """After every optimizer step."""
        self.news = replace(self.news, done=done, total=total)
        if done in (1, total) or time.monotonic() - self.told >= self.every:
            self._tell()

    def epoch(self, values: Mapping[str, float | None], epoch: int) -> None:
        """After every epoch; figures of test, which come later, are no news."""
        if "loss" in values:
            self.news = replace(self.news, epoch=epoch, loss=values["loss"], dev=values.get("dev"))
            self._tell()

    def _tell(self) -> None:
        self.told = time.monotonic()
        self.tell(self.news)
