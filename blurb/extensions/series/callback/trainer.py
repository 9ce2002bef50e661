"""`BlurbCallback`: scores of checkpoints in the trackers of the training that makes them, also when it has moved on.

A score is known long after its step. Weights & Biases takes no step below the last one, so there the scores have an
axis of their own, `blurb/step`; the others take any step.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

import torch
from transformers import TrainerCallback

from blurb import names
from blurb.messages import SettingsError
from blurb.store.store import QUEUE
from blurb.system.files import nearest_existing
from blurb.system.process import launcher_free_environment

PREFIX = "blurb/"
AXIS = f"{PREFIX}step"


LogScores = Callable[[Mapping[str, float], int], None]
"""Takes the scores of a checkpoint, whose names have the prefix, and its step."""


def _open_wandb(arguments: Any) -> LogScores:
    import wandb  # type: ignore[import-not-found]

    if (run := wandb.run) is None:
        raise RuntimeError("no run of wandb is active")
    run.define_metric(AXIS)
    run.define_metric(f"{PREFIX}*", step_metric=AXIS)
    return lambda scores, step: run.log({AXIS: step, **scores})


def _open_trackio(arguments: Any) -> LogScores:
    import trackio  # type: ignore[import-not-found]

    return lambda scores, step: trackio.log({AXIS: step, **scores})


def _open_mlflow(arguments: Any) -> LogScores:
    """The run is that which is active when training begins: the Trainer may end it before the last score is known."""
    import mlflow  # type: ignore[import-not-found]

    if (active := mlflow.active_run()) is None:
        raise RuntimeError("no run of MLflow is active")
    client = mlflow.MlflowClient()

    def log_scores(scores: Mapping[str, float], step: int) -> None:
        for name, value in scores.items():
            client.log_metric(active.info.run_id, name, value, step=step)

    return log_scores


def _open_tensorboard(arguments: Any) -> LogScores:
    """A second file of events beside that of the Trainer: TensorBoard shows both as one run."""
    from torch.utils.tensorboard import SummaryWriter

    root = Path(os.environ.get("TENSORBOARD_LOGGING_DIR") or Path(arguments.output_dir) / "runs")
    events = sorted(root.rglob("events.out.tfevents.*"), key=lambda path: path.stat().st_mtime)
    writer = SummaryWriter(str(events[-1].parent if events else root))

    def log_scores(scores: Mapping[str, float], step: int) -> None:
        for name, value in scores.items():
            writer.add_scalar(name, value, step)
        writer.flush()

    return log_scores


KNOWN: Mapping[str, Callable[[Any], LogScores]] = {
    "wandb": _open_wandb,
    "trackio": _open_trackio,
    "mlflow": _open_mlflow,
    "tensorboard": _open_tensorboard,
}
"""Names as of the Trainer's `report_to` -> what opens the tracker."""


log = logging.getLogger(__name__)
LEFT = ("optimizer", "scheduler", "rng_state", "scaler", "training_args")
"""Beginnings of the files of a checkpoint that no fine-tuning reads."""


@dataclass
class _Running:
    step: int
    process: subprocess.Popen[str]
    answer: IO[str]
    folder: Path


class BlurbCallback(TrainerCallback):  # type: ignore[misc]
    """Scores checkpoints as the Trainer saves them, and logs the scores to its trackers (`report_to`).

    Each checkpoint is scored by another process, one at a time, so the training keeps its random numbers. Whatever
    fails, a checkpoint or a tracker, is told in the log of this module, and the training goes on.

    :param tasks: names or types
    :param every: steps; checkpoints of other steps are left alone
    :param where: "queue" scores while the training goes on, and waits for the last ones at its end; "now" stops it
    :param most: checkpoints that may wait; more are not scored, as each keeps its files on the disk
    :param output: store of the trials; the row of a checkpoint is `name@step`
    :param name: of the run; by default that of the Trainer's output folder
    :param trials: options and settings of `blurb.run`, such as `data="data"`, `device="cpu"`
    """

    def __init__(
        self,
        tasks: str | Sequence[str] = "all",
        *,
        every: int = 1,
        protocol: str = "sketch",
        where: Literal["queue", "now"] = "queue",
        most: int = 8,
        output: Path | str = "runs",
        name: str = "",
        split: Literal["dev", "test"] = "dev",
        **trials: Any,
    ) -> None:
        if every < 1 or where not in ("queue", "now"):
            raise SettingsError(
                f"every must be at least 1, and where 'queue' or 'now' (got {every} and {where!r})."
            )
        self.every, self.where, self.most = every, where, most
        self.name, self.output = name, Path(output).absolute()
        if not nearest_existing(self.output).is_dir():
            raise SettingsError(
                "a file is in the way of the store", where=self.output, fix="choose another output."
            )
        self.request = {
            "tasks": tasks if isinstance(tasks, str) else ",".join(tasks),
            "protocol": protocol,
            "split": split,
            "output": str(self.output),
            "parent": os.getpid(),
            "trials": {key: _plain(value) for key, value in trials.items()},
        }
        try:
            json.dumps(self.request)
        except TypeError as error:
            raise SettingsError(
                f"Options of BlurbCallback are texts, numbers, paths or lists: {error}."
            ) from None
        self.scores: dict[int, Mapping[str, float]] = {}
        self._waiting: deque[tuple[int, Path]] = deque()
        self._running: _Running | None = None
        self._trackers: dict[str, LogScores | None] = {}

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Puts a checkpoint in the queue; files that are rotated away meanwhile are kept for it."""
        step = state.global_step
        if state.is_world_process_zero and step % self.every == 0:
            if len(self._waiting) >= self.most:
                log.warning(
                    "Step %d is not scored: %d checkpoints wait already; raise `every`.",
                    step,
                    self.most,
                )
                return
            self.name = self.name or Path(os.path.abspath(args.output_dir)).name
            with _sparing(step):
                folder = Path(args.output_dir) / f"checkpoint-{step}"
                self._waiting.append((step, self._kept(folder, step)))
            self._turn(args, wait=self.where == "now")

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Looks whether a score has come."""
        self._turn(args, wait=False)

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Opens the trackers while their runs are active."""
        self._open(args)

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Waits for the checkpoints that are still to score."""
        if left := len(self._waiting) + (self._running is not None):
            log.warning("Waiting for the scores of %d checkpoints.", left)
        self._turn(args, wait=True)

    def _turn(self, args: Any, wait: bool) -> None:
        while self._running is not None or self._waiting:
            if self._running is None:
                step, folder = self._waiting.popleft()
                with _sparing(step):
                    self._running = self._start(step, folder)
            if self._running is None:
                shutil.rmtree(folder, ignore_errors=True)  # type: ignore[possibly-undefined]
                continue
            if not wait and self._running.process.poll() is None:
                return
            running, self._running = self._running, None
            with _sparing(running.step):
                self._finish(args, running)

    def _start(self, step: int, folder: Path) -> _Running:
        # Before the process is there, which would wait for the rest of it.
        request = json.dumps(
            {**self.request, "reference": str(folder), "name": names.checkpoint(self.name, step)}
        )
        answer = (folder.parent / f"{folder.name}.json").open("w+", encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "blurb.extensions.series.callback.queued"],
            stdin=subprocess.PIPE,
            stdout=answer,
            text=True,
            env=launcher_free_environment(),
        )
        assert process.stdin is not None
        with process.stdin:
            process.stdin.write(request)
        return _Running(step, process, answer, folder)

    def _finish(self, args: Any, running: _Running) -> None:
        running.process.wait()
        with running.answer as file:
            file.seek(0)
            lines = file.read().splitlines()
        Path(running.answer.name).unlink(missing_ok=True)
        shutil.rmtree(running.folder, ignore_errors=True)
        answer: dict[str, Any] = {}
        with contextlib.suppress(ValueError, IndexError, TypeError):  # TypeError: of a number
            answer = dict(json.loads(lines[-1]))
        if "scores" not in answer:
            log.warning(
                "Step %d has no score: %s",
                running.step,
                answer.get("error", "its process ended early."),
            )
            return
        if answer.get("failed"):
            log.warning("Step %d has no mean: %s", running.step, answer["failed"])
        self.scores[running.step] = answer["scores"]
        scores = {f"{PREFIX}{name}": value for name, value in answer["scores"].items()}
        for name, log_scores in self._open(args).items():
            if log_scores is not None:
                try:
                    log_scores(scores, running.step)
                except Exception as error:  # noqa: BLE001 - a tracker that is down costs nobody a training
                    log.warning(
                        "%s did not take the scores of step %d: %s", name, running.step, error
                    )

    def _open(self, args: Any) -> Mapping[str, LogScores | None]:
        for name in args.report_to or ():
            if name not in self._trackers:
                self._trackers[name] = None
                if name not in KNOWN:
                    log.warning("%s gets no scores: blurb writes to %s.", name, ", ".join(KNOWN))
                    continue
                try:
                    self._trackers[name] = KNOWN[name](args)
                except Exception as error:  # noqa: BLE001
                    log.warning("%s gets no scores: %s", name, error)
        return self._trackers

    def _kept(self, folder: Path, step: int) -> Path:
        """The files of a checkpoint that a fine-tuning reads, as links where the disk has them."""
        queue = self.output / QUEUE
        queue.mkdir(parents=True, exist_ok=True)
        # A folder of its own: two trainings whose output folders have one name may share a store.
        name = names.checkpoint(self.name, step).replace(os.sep, "-")
        kept = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=queue))
        for path in folder.iterdir():
            if path.is_file() and not path.name.startswith(LEFT):
                try:
                    os.link(path, kept / path.name)
                except OSError:
                    shutil.copy2(path, kept / path.name)
        return kept


@contextlib.contextmanager
def _sparing(step: int) -> Iterator[None]:
    """Whatever fails within it is told, and the training goes on: hours of it are worth more than a score."""
    try:
        yield
    except Exception as error:  # noqa: BLE001
        log.warning("Step %d has no score: %s: %s", step, type(error).__name__, error)


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value.absolute())
    return str(value) if isinstance(value, torch.device) else value
