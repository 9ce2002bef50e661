"""Trials as tasks of Ray, on a cluster that is there or on one that starts with the command and ends with it."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from blurb import garbage, stopping
from blurb.errors import SettingsError, StoreError, said
from blurb.runs import sweeps
from blurb.runs.engine import SAVING, Engine, longest_first
from blurb.runs.events import News
from blurb.runs.processes import at_root, safe_path
from blurb.runs.turns import OnFinished, OnProgress, is_free
from blurb.runs.worker import Job, TrialOutcome, execute, note_death

OPTIONS = ("address", "cpus", "gpus", "retries")
LOOK = 1.0
"""Seconds between two looks at what ended."""
AT_ONCE = 50
"""Ends that are not waited for longer than that."""
QUEUED = 500
"""Tasks that Ray has at a time, at least: with all of a sweep every look would be at a hundred thousand."""


@dataclass(frozen=True)
class RayEngine(Engine):
    """Runs each trial as a task, which carries the path of the sweep and the number of the trial, nothing else.

    :param address: of a cluster; "" is that of the environment (RAY_ADDRESS), else a cluster on this machine alone
    :param cpus: cores of a trial, and its threads
    :param gpus: GPUs of a trial, such as 0.5; None is 1 where the cluster has any and the device is not the CPU
    :param retries: how often a trial starts again whose process or machine died
    """

    address: str = ""
    cpus: float = 1
    gpus: float | None = None
    retries: int = 3

    @classmethod
    def of(cls, options: Mapping[str, str]) -> RayEngine:
        """Reads the options; SettingsError if one has a wrong value."""
        found: dict[str, Any] = {}
        for name, value in options.items():
            try:
                number = 0.0 if name == "address" else int(value) if name == "retries" else float(value)
                if not 0 <= number < float("inf") or (name == "cpus" and not number):
                    raise ValueError
            except ValueError:
                raise SettingsError(f"--engine ray: {name} must be a number from 0 (got '{value}').") from None
            found[name] = value if name == "address" else number
        return cls(**found)

    def run(self, jobs: Sequence[Job], on_finished: OnFinished, on_progress: OnProgress) -> list[TrialOutcome]:
        if not jobs:
            return []
        folder, code = sweeps.write(jobs[0].store, jobs), sweeps.hash_of(jobs)
        found: dict[int, TrialOutcome] = {}
        with _cluster(self.address) as ray:
            gpus = self.gpus
            if gpus is None:
                gpus = 1 if ray.cluster_resources().get("GPU") and jobs[0].device != "cpu" else 0
            # The retries are of processes that die: a trial that fails has said why, and would fail again.
            task = ray.remote(num_cpus=self.cpus, num_gpus=gpus, max_retries=self.retries)(run_one)
            running: dict[Any, int] = {}
            waiting = deque(longest_first(jobs))
            most = max(QUEUED, int(2 * ray.cluster_resources().get("CPU", 0) / self.cpus))
            try:
                while waiting or running:
                    for _ in range(min(len(waiting), most - len(running))):
                        index = waiting.popleft()
                        if is_free(jobs[index]):
                            running[task.remote(str(folder.absolute()), index, self.cpus, code)] = index
                        else:
                            waiting.append(index)
                    if not running:
                        time.sleep(LOOK)
                        continue
                    ended, _ = ray.wait(list(running), num_returns=min(len(running), AT_ONCE), timeout=LOOK)
                    for one in ended:
                        index = running.pop(one)
                        outcome = _outcome(ray, one, jobs[index])
                        if outcome.status == "held":  # by a process that is not of this cluster
                            waiting.append(index)
                            on_progress(jobs[index], News(held_by=outcome.message))
                            continue
                        found[index] = outcome
                        on_finished(outcome)
            except BaseException as error:
                with contextlib.suppress(Exception):
                    for one in running:
                        ray.cancel(one)
                    ray.wait(list(running), num_returns=len(running), timeout=stopping.STEP_LIMIT + SAVING)
                # A signal within a function of Ray's comes out as an error of Python itself.
                if isinstance(error.__cause__, stopping.Terminated | KeyboardInterrupt):
                    raise error.__cause__ from None
                raise
        return [found[index] for index in range(len(jobs))]


def run_one(folder: str, index: int, cpus: float, code: str) -> tuple[str, float, str]:
    """In a process of Ray: runs a trial of a sweep; returns its status, seconds and message.

    :param code: the hash by which the command allows its sweep
    """
    import torch

    garbage.own_process()
    torch.set_num_threads(max(1, int(cpus)))
    try:
        job = _jobs(folder, code)[index]
    except StoreError:
        if (Path(folder) / sweeps.JOBS).exists():
            raise
        return "already done", 0.0, ""  # a sweep ends with the last of its trials
    if job is None:
        return "failed", 0.0, "The row of the trial was removed or renamed meanwhile."
    outcome = execute(job)
    return outcome.status, outcome.seconds, outcome.message


@lru_cache(maxsize=1)
def _jobs(folder: str, code: str) -> list[Job | None]:
    """Read once a process: a sweep does not change but for trials that are dropped."""
    return sweeps.numbered(Path(folder), [code])


def _outcome(ray: Any, task: Any, job: Job) -> TrialOutcome:
    try:
        status, seconds, message = ray.get(task)
    except ray.exceptions.RayTaskError as error:
        return TrialOutcome(job, "failed", message=said(error.cause))
    except ray.exceptions.RayError as error:
        message = f"The process or the machine of the trial died, several times: {said(error)}"
        note_death(job, message)
        return TrialOutcome(job, "failed", message=message.split("\n")[0])
    return TrialOutcome(job, status, seconds, message)


def check_there() -> None:
    """Raises a SettingsError if Ray is not installed."""
    if importlib.util.find_spec("ray") is None:
        raise SettingsError("--engine ray needs Ray: pip install 'blurb-bench[ray]'")


@contextmanager
def _cluster(address: str) -> Iterator[Any]:
    """Ray, connected; a cluster that was started for this ends with it."""
    check_there()
    import ray

    given = address or os.environ.get("RAY_ADDRESS", "")
    there = ray.is_initialized()
    handlers = {number: signal.getsignal(number) for number in stopping.SIGNALS}
    try:
        if not there:
            with safe_path(), at_root():
                ray.init(address=given or "local", log_to_driver=False, include_dashboard=False)
            if threading.current_thread() is threading.main_thread():
                for number, handler in handlers.items():  # Ray has its own for some, which end the process at once
                    signal.signal(number, handler)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise SettingsError(f"--engine ray: there is no cluster at {given} ({said(error)}).") from error
    try:
        yield ray
    finally:
        if not there:
            ray.shutdown()
