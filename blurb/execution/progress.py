"""Progress of a running trial, as reported by its process."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace


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
