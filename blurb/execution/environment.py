"""The software and hardware of a trial: stored with it, never part of its hash.

Processes started by blurb share cores and GPUs, and never import from the working folder.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import blurb
from blurb.execution.engines import DEFAULT, engines
from blurb.system import process

if TYPE_CHECKING:
    from blurb.execution.job import Job

PACKAGES = ("torch", "transformers", "tokenizers", "datasets", "numpy", "scikit-learn")


def describe_environment(device: str) -> dict[str, Any]:
    """Versions, device, threads and commit; threads as they are now, as a notebook may change them between trials."""
    import torch

    from blurb.training.hardware import choose_device

    chosen = choose_device(device)
    gpu = torch.cuda.get_device_name(chosen) if chosen.type == "cuda" else None
    return {
        "blurb": blurb.__version__,
        "python": platform.python_version(),
        **{name: _version_of(name) for name in PACKAGES},
        "platform": f"{platform.system()} {platform.machine()}",
        "device": gpu or chosen.type,
        "cpus": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "variables": process.recorded_variables(),
        "engine": next(
            (name for name, kind in engines.usable().items() if kind.started_this()), DEFAULT
        ),
        "commit": _commit_of_blurb(),
    }


@cache
def _version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


@cache
def _commit_of_blurb() -> str | None:
    """Commit of blurb if it runs from a checkout, with `+` if files have uncommitted changes."""
    top = Path(blurb.__file__).parents[1]
    if not (top / ".git").exists():
        return None
    try:
        commit = subprocess.run(
            ["git", "-C", top, "rev-parse", "HEAD"], capture_output=True, text=True, timeout=5
        )
        changed = subprocess.run(
            ["git", "-C", top, "status", "--porcelain", "--untracked-files=no", "--", "blurb"],
            capture_output=True,
            text=True,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    # Without a commit git prints the name that it could not resolve, "HEAD".
    if commit.returncode:
        return None
    return commit.stdout.strip() + ("+" if changed.stdout.strip() else "")


SAVING = 10.0
"""Seconds, in addition to those of a step, that a process has to save its trial before it is ended."""
SAFE = "PYTHONSAFEPATH"
"""Python's variable for -P: the working folder is not searched for modules."""


@contextmanager
def clean_start() -> Iterator[None]:
    """For the block, new Python processes inherit nothing of their parent that could change what they do.

    They do not import from the working folder, where a file torch.py is not torch (processes of multiprocessing get the
    path of this process afterwards, as they need its imports), do not run the script that called blurb again, and see
    no variables of a launcher of trainings.
    """
    main = sys.modules["__main__"]
    before, hidden = os.environ.get(SAFE), {"__spec__": None, "__file__": None}
    kept = {name: getattr(main, name) for name in hidden if hasattr(main, name)}
    os.environ[SAFE] = "1"
    vars(main).update(hidden)
    try:
        with process.one_process():
            yield
    finally:
        for name in hidden:
            vars(main).pop(name)
        vars(main).update(kept)
        if before is None:
            os.environ.pop(SAFE, None)
        else:
            os.environ[SAFE] = before


def usable_cores() -> list[int]:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def threads_of(workers: int) -> int:
    """Threads of each worker process; the workers share the cores."""
    return max(1, len(usable_cores()) // workers)


def gpus_for(jobs: Sequence[Job]) -> list[str]:
    """The GPUs of this machine that jobs without a device of their own may use; empty if they run on the CPU."""
    import torch

    if (
        all(job.device not in ("auto", "cuda") or job.place == "cpu" for job in jobs)
        or not torch.cuda.is_available()
    ):
        return []
    return [f"cuda:{number}" for number in range(torch.cuda.device_count())]


def on_gpu(job: Job, gpus: Sequence[str], lane: int) -> Job:
    """The job with the GPU of a lane, unless it names its own; the device is no part of a trial."""
    return (
        replace(job, device=gpus[lane % len(gpus)])
        if gpus and job.device in ("auto", "cuda")
        else job
    )
