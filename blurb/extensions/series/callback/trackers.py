"""Scores of checkpoints in the tracker of the run that made them, also when the run has moved on.

A score is known long after its step. Weights & Biases takes no step below the last one, so there the scores have an
axis of their own, `blurb/step`; the others take any step.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

PREFIX = "blurb/"
AXIS = f"{PREFIX}step"


class Tracker(Protocol):
    """Where scores go."""

    def log(self, scores: Mapping[str, float], step: int) -> None:
        """Logs the scores of a checkpoint; the names have no prefix."""


class _Wandb:
    def __init__(self, arguments: Any) -> None:
        import wandb  # type: ignore[import-not-found]

        self.run = wandb.run
        if self.run is None:
            raise RuntimeError("no run of wandb is active")
        self.run.define_metric(AXIS)
        self.run.define_metric(f"{PREFIX}*", step_metric=AXIS)

    def log(self, scores: Mapping[str, float], step: int) -> None:
        self.run.log({AXIS: step, **{f"{PREFIX}{name}": value for name, value in scores.items()}})


class _Trackio:
    def __init__(self, arguments: Any) -> None:
        import trackio  # type: ignore[import-not-found]

        self.trackio = trackio

    def log(self, scores: Mapping[str, float], step: int) -> None:
        self.trackio.log({AXIS: step, **{f"{PREFIX}{name}": value for name, value in scores.items()}})


class _Mlflow:
    """The run is that which is active when training begins: the Trainer may end it before the last score is known."""

    def __init__(self, arguments: Any) -> None:
        import mlflow  # type: ignore[import-not-found]

        active = mlflow.active_run()
        if active is None:
            raise RuntimeError("no run of MLflow is active")
        self.client, self.id = mlflow.MlflowClient(), active.info.run_id

    def log(self, scores: Mapping[str, float], step: int) -> None:
        for name, value in scores.items():
            self.client.log_metric(self.id, f"{PREFIX}{name}", value, step=step)


class _Tensorboard:
    """A second file of events beside that of the Trainer: TensorBoard shows both as one run."""

    def __init__(self, arguments: Any) -> None:
        from torch.utils.tensorboard import SummaryWriter

        root = Path(os.environ.get("TENSORBOARD_LOGGING_DIR") or Path(arguments.output_dir) / "runs")
        events = sorted(root.rglob("events.out.tfevents.*"), key=lambda path: path.stat().st_mtime)
        self.writer = SummaryWriter(str(events[-1].parent if events else root))

    def log(self, scores: Mapping[str, float], step: int) -> None:
        for name, value in scores.items():
            self.writer.add_scalar(f"{PREFIX}{name}", value, step)
        self.writer.flush()


KNOWN: Mapping[str, type[Any]] = {"wandb": _Wandb, "trackio": _Trackio, "mlflow": _Mlflow, "tensorboard": _Tensorboard}
"""Names as of the Trainer's `report_to` -> adapter."""
