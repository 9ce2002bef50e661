"""A trial with everything needed to run it on this machine, its unit of work, and what became of it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from blurb import tasks
from blurb.checkpoints import ModelSource
from blurb.data import TaskData
from blurb.execution.data_sources import DataSource
from blurb.execution.options import Keep as Keep
from blurb.formulations._base import Formulation
from blurb.learners import LearnerKind
from blurb.learners.base import Learner, Predicted, Subset
from blurb.messages.errors import DataError
from blurb.store import plugins
from blurb.store.record import LOSS
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
    source: ModelSource
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


def units_of(formulation: Formulation, content: TaskData, split: tasks.Split) -> tuple[list[dict[str, Any]], str]:
    """The examples of a split as the formulation cuts them, and their key in the cache of features.

    :raises DataError: if there are none: since no file is empty, a plug-in's formulation dropped all
    """
    rows = content.splits[split].to_list()  # ten times as fast as row by row
    units = formulation.units(rows)
    if not units:
        made = type(formulation)
        raise DataError(
            f"units() of {made.__module__}.{made.__qualname__} returned nothing for {content.task.name}, {split} "
            f"({len(rows)} rows); it must return at least one example."
        )
    key, code = f"{content.hash} {split} {sorted(formulation.options.items())}", plugins.of_formulation(content.task)
    return units, f"{key} {code}" if code else key


def predictions_of(
    formulation: Formulation, learner: Learner, units: Mapping[tasks.Split, Subset]
) -> dict[str, list[Any]]:
    """The columns of `predictions.parquet` for dev and test, with the majority answer, and losses on dev if known."""
    majority = formulation.constants(units["train"].used)[0]
    columns: dict[str, list[Any]] = {
        name: [] for name in ("split", "id", "doc_id", "gold", "prediction", "majority", "scores", LOSS)
    }
    for split in tasks.SCORED:
        rows = units[split].used
        predicted, scores, losses = Predicted(*learner.predict(units[split]))
        columns["split"] += [split] * len(rows)
        columns["id"] += [row["id"] for row in rows]
        columns["doc_id"] += [row.get("doc_id") for row in rows]
        columns["gold"] += [formulation.gold(row) for row in rows]
        columns["prediction"] += predicted
        columns["majority"] += [formulation.constant(majority, row) for row in rows]
        columns["scores"] += scores if scores is not None else [None] * len(rows)
        # As they are stored, so that whoever scores again gets the same figures.
        known = losses is not None and split == "dev"
        columns[LOSS] += np.asarray(losses, np.float32).tolist() if known else [None] * len(rows)
    if columns[LOSS].count(None) == len(columns[LOSS]):
        del columns[LOSS]
    return columns
