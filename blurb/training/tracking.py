"""Logs a trial as a run of an experiment tracker, through accelerate's trackers (`blurb run --track`).

A tracker is not part of a trial's identity. It cannot change a result (the state of the random generators is restored
after every call) or fail a run: its errors become a warning, and the trial continues untracked.
"""

from __future__ import annotations

import logging
import random
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from blurb.messages import SettingsError, opt
from blurb.system.process import one_process

if TYPE_CHECKING:
    from accelerate import Accelerator

log = logging.getLogger(__name__)
TRACKERS = ("tensorboard", "wandb", "mlflow", "trackio")
"""The supported trackers of accelerate; each is also the name of its package."""
FOLDER = ".tensorboard"
"""Folder of tensorboard's files in the store; no model name begins with a dot."""


def check(tracker: str) -> None:
    """Raises a SettingsError before training if a package is missing: the tracker's, or accelerate."""
    missing = [name for name in (tracker, "accelerate") if find_spec(name) is None]
    if missing:
        raise SettingsError(
            f"{opt('track', tracker)} needs what is not installed: pip install {' '.join(missing)}"
        )


@dataclass
class Tracking:
    """One trial in one tracker; without a tracker only `listen` is called.

    :param tracker: one of `TRACKERS`, or "" for none
    :param run: name of the run: model/task/seed
    :param trial: hash of the trial, as a sweep has several trials with the same name
    :param folder: folder of tensorboard's files
    :param settings: hyperparameters to show in the tracker
    :param listen: receives the same values as the tracker, even without one
    """

    tracker: str = ""
    run: str = ""
    trial: str = ""
    folder: Path = Path()
    settings: Mapping[str, Any] = field(default_factory=dict)
    listen: Callable[[Mapping[str, float | None], int], None] = lambda values, step: None
    accelerator: Accelerator | None = field(default=None, init=False)

    def start(self) -> None:
        """Starts the run. Tensorboard uses the project name as a folder; the others also have a run name."""
        if not self.tracker:
            return
        named = {"run_name" if self.tracker == "mlflow" else "name": self.run}
        project = "blurb"
        if self.tracker == "tensorboard":
            named, project = {}, f"{self.run}-{self.trial[:8]}"
        values = {
            name: value
            for name, value in {**self.settings, "trial": self.trial}.items()
            if isinstance(value, str | int | float)
        }

        def start_tracker() -> None:
            from accelerate import Accelerator

            with one_process():
                self.accelerator = Accelerator(
                    cpu=True, log_with=self.tracker, project_dir=str(self.folder)
                )
            self.accelerator.init_trackers(project, values, {self.tracker: named})

        self._call(start_tracker)

    def log(self, values: Mapping[str, float | None], step: int) -> None:
        """Logs the results of an epoch, without those that are None."""
        self.listen(values, step)
        if (accelerator := self.accelerator) is not None:
            known = {name: value for name, value in values.items() if value is not None}
            self._call(lambda: accelerator.log(known, step=step))

    def finish(self) -> None:
        """Ends the run. Call it even if the trial failed, as some trackers allow only one run at a time."""
        accelerator, self.accelerator = self.accelerator, None
        for tracker in accelerator.trackers if accelerator is not None else []:
            self._call(tracker.finish)

    def _call(self, action: Callable[[], object]) -> None:
        try:
            with _preserved_rng_state():
                action()
        except Exception as error:  # noqa: BLE001 - a tracker must not cost anybody a training
            message = f"{self.tracker} failed; the trial continues without it: {type(error).__name__}: {error}"
            log.warning(message)
            # The log of a trial is a file; a waiting user should see it, too.
            warnings.warn(message, stacklevel=2)
            accelerator, self.accelerator = self.accelerator, None
            for tracker in accelerator.trackers if accelerator is not None else []:
                # One warning is enough.
                with suppress(Exception), _preserved_rng_state():
                    tracker.finish()


@contextmanager
def _preserved_rng_state() -> Iterator[None]:
    """Restores all random generators, as a tracker that uses them would change the dropout after it."""
    import torch

    plain, arrays = random.getstate(), np.random.get_state()
    gpus = [torch.cuda.current_device()] if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=gpus):
        try:
            yield
        finally:
            random.setstate(plain)
            np.random.set_state(arrays)
