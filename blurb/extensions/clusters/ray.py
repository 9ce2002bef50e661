"""Trials as tasks of Ray, on a cluster that is there or on one that starts with the command and ends with it."""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from blurb.execution import sweeps
from blurb.execution.engine import Engine, Launch, Sweep
from blurb.execution.environment import SAVING, clean_start
from blurb.execution.job import Job, JobQueue, TrialOutcome
from blurb.execution.worker import execute_job, note_death
from blurb.messages import SettingsError, StoreError, opt, safe_message
from blurb.system import process, signals

LOOK = 1.0
"""Seconds between two looks at what ended."""
AT_ONCE = 50
"""Ends that are not waited for longer than that."""
QUEUED = 500
"""Tasks that Ray has at a time, at least: with all of a sweep every look would be at a hundred thousand."""


class RayEngine(Engine):
    """Runs each trial as a task, which carries the path of the sweep and the number of the trial, nothing else.

    :param address: of a cluster; "" is that of the environment (RAY_ADDRESS), else a cluster on this machine alone
    :param cpus: cores of a trial, and its threads
    :param gpus: GPUs of a trial, such as 0.5; "" is 1 where the cluster has any and the device is not the CPU
    :param retries: how often a trial starts again whose process or machine died
    """

    summary = "runs trials as tasks of a Ray cluster, or of Ray on this machine"
    without_jobs = "as many run at a time as the cluster has room for, by ray,cpus=N,gpus=N of each"

    def __init__(
        self,
        launch: Launch,
        address: str = "",
        cpus: float = 1.0,
        gpus: float | str = "",
        retries: int = 3,
    ) -> None:
        super().__init__(launch)
        for name, number, wrong, must_be in (
            ("cpus", cpus, not 0 < cpus < math.inf, "above 0"),
            ("gpus", gpus, gpus != "" and not 0 <= _number(gpus) < math.inf, "a number from 0"),
            ("retries", retries, retries < 0, "a number from 0"),
        ):
            if wrong:
                shown = f"{number:g}" if isinstance(number, float) else number
                raise SettingsError(
                    f"{opt('engine', 'ray')}: {name} must be {must_be} (got {shown})."
                )
        self.address, self.cpus, self.retries = address, cpus, retries
        self.gpus = None if gpus == "" else _number(gpus)

    @property
    def elsewhere(self) -> bool:
        return bool(self.address or os.environ.get("RAY_ADDRESS"))

    def check_there(self) -> None:
        if importlib.util.find_spec("ray") is None:
            raise SettingsError(f"{opt('engine', 'ray')} needs Ray: pip install ray")

    @classmethod
    def started_this(cls) -> bool:
        ray = sys.modules.get("ray")
        return ray is not None and bool(ray.is_initialized())

    def work(self, sweep: Sweep, turns: JobQueue) -> None:
        self.check_there()
        folder = str(sweep.folder.absolute())
        with _cluster(self.address) as ray:
            present = ray.cluster_resources()
            gpus = self.gpus
            if gpus is None:
                gpus = 1 if present.get("GPU") and sweep.jobs[0].device != "cpu" else 0
            # The retries are of processes that die: a trial that fails has said why, and would fail again.
            task = ray.remote(num_cpus=self.cpus, num_gpus=gpus, max_retries=self.retries)(run_one)
            running: dict[Any, int] = {}
            most = max(QUEUED, int(2 * present.get("CPU", 0) / self.cpus))
            try:
                while running or turns.left:
                    while len(running) < most and (index := turns.next_free()) is not None:
                        running[task.remote(folder, index, self.cpus, sweep.code)] = index
                    if not running:
                        time.sleep(LOOK)
                        continue
                    ended, _ = ray.wait(
                        list(running), num_returns=min(len(running), AT_ONCE), timeout=LOOK
                    )
                    for ref in ended:
                        index = running.pop(ref)
                        turns.end(index, _outcome(ray, ref, sweep.jobs[index]))
            except BaseException as error:
                with contextlib.suppress(Exception):
                    for ref in running:
                        ray.cancel(ref)
                    ray.wait(
                        list(running), num_returns=len(running), timeout=signals.STEP_LIMIT + SAVING
                    )
                # A signal within a function of Ray's comes out as an error of Python itself.
                if isinstance(error.__cause__, signals.Terminated | KeyboardInterrupt):
                    raise error.__cause__ from None
                raise


def _number(text: float | str) -> float:
    """NaN for a text that is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def run_one(folder: str, index: int, cpus: float, code: str) -> tuple[str, float, str]:
    """In a process of Ray: runs a trial of a sweep; returns its status, seconds and message.

    :param code: the hash by which the command allows its sweep
    """
    import torch

    process.own_process()
    torch.set_num_threads(max(1, int(cpus)))
    try:
        job = _jobs(folder, code)[index]
    except StoreError:
        if (Path(folder) / sweeps.JOBS).exists():
            raise
        return "already done", 0.0, ""  # a sweep ends with the last of its trials
    if job is None:
        return "failed", 0.0, "The row of the trial was removed or renamed meanwhile."
    outcome = execute_job(job)
    return outcome.status, outcome.seconds, outcome.message


@lru_cache(maxsize=1)
def _jobs(folder: str, code: str) -> list[Job | None]:
    """Read once a process: a sweep does not change but for trials that are dropped."""
    return sweeps.numbered(Path(folder), [code])


def _outcome(ray: Any, task: Any, job: Job) -> TrialOutcome:
    try:
        status, seconds, message = ray.get(task)
    except ray.exceptions.RayTaskError as error:
        return TrialOutcome(job, "failed", message=safe_message(error.cause))
    except ray.exceptions.RayError as error:
        message = (
            f"The process or the machine of the trial died, several times: {safe_message(error)}"
        )
        note_death(job, message)
        return TrialOutcome(job, "failed", message=message.split("\n")[0])
    return TrialOutcome(job, status, seconds, message)


@contextmanager
def _cluster(address: str) -> Iterator[Any]:
    """Ray, connected; a cluster that was started for this ends with it."""
    import ray

    given = address or os.environ.get("RAY_ADDRESS", "")
    present = ray.is_initialized()
    handlers = {number: signal.getsignal(number) for number in signals.SIGNALS}
    try:
        if not present:
            # Ray puts the working folder on the path of its workers, before all others; strangers cannot write to "/".
            with clean_start(), contextlib.chdir(os.path.abspath(os.sep)):
                ray.init(address=given or "local", log_to_driver=False, include_dashboard=False)
            if threading.current_thread() is threading.main_thread():
                # Ray sets handlers of its own, which end the process at once.
                for number, handler in handlers.items():
                    signal.signal(number, handler)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise SettingsError(
            f"{opt('engine', 'ray')}: there is no cluster at {given} ({safe_message(error)})."
        ) from error
    try:
        yield ray
    finally:
        if not present:
            ray.shutdown()


ENGINE = RayEngine
