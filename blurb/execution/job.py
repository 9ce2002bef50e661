"""A trial with everything needed to run it on this machine, and what became of it."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from blurb.checkpoints import Source
from blurb.execution.data_sources import DataSource
from blurb.execution.options import Keep as Keep
from blurb.learners import LearnerKind
from blurb.store import plugins
from blurb.store.store import Store
from blurb.store.trial import Configuration, Trial


@dataclass(frozen=True)
class Job:
    """A trial with everything needed to run it on this machine.

    :param plugins: what a person typed (`blurb.store.plugins.typed`)
    :param predicted: predicted seconds (`blurb.cost`), 0 without an estimate
    :param keep: whether to keep the trained model
    :param resume: whether to write checkpoints, and to go on from them (`blurb.store.trial_checkpoints`)
    """

    trial: Trial
    source: Source
    configuration: Configuration
    data: DataSource
    store: Path
    device: str
    track: str = ""
    plugins: plugins.Typed = field(default_factory=dict)
    predicted: float = 0.0
    keep: Keep = "none"
    resume: bool = False

    @property
    def learner(self) -> LearnerKind:
        """The kind of its learner."""
        return self.trial.kind

    @property
    def place(self) -> str:
        """The device that it runs on: that asked for, or the CPU for what always runs there."""
        return self.device if self.learner.on_device else "cpu"

    @functools.cached_property
    def path(self) -> Path:
        """Folder of the trial; valid for writing once the model has claimed its folder (`Store.claim`)."""
        return Store(self.store).path(self.source.name, self.trial.task, self.trial.hash)


@dataclass(frozen=True)
class TrialOutcome:
    """The result of a job; `message` is the reason if it failed, and who has the trial if it is `held`.

    "submitted": another machine will run it, `message` says where; `script` is what its scheduler was or can be given.
    """

    job: Job
    status: Literal["done", "already done", "failed", "held", "submitted"]
    seconds: float = 0.0
    message: str = ""
    script: str = ""
