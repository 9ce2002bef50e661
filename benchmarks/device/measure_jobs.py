"""One to eight trials at a time on one card: worker processes of `blurb run --jobs`, with and without NVIDIA's service.

The service (MPS) lets kernels of several processes run at once. It is a process of ours that changes no setting of
the card, and is started only with `--mps`, as the owner of a machine may not want it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks.device.cells import Cell, Context, Figures, Unfinished
from benchmarks.device.commands import command, ended, trials

JOBS = (1, 4, 2, 8)
"""In the order of their worth: the ratio of four to one is wanted first."""
TRIALS = 8
CONTROL = "nvidia-cuda-mps-control"
COLUMNS = (
    "at a time",
    "MPS",
    "trials",
    "seconds",
    "trials a minute",
    "x one at a time",
    "memory of the trials, GiB",
)
NOTE = "MiniLM on NCBI-disease, two epochs of `standard`. Use the number with the most trials a minute for `--jobs`."


def cells(context: Context) -> Iterator[Cell]:
    for jobs in context.pick(JOBS, JOBS[:1]):
        yield Cell(str(jobs), partial(measure, context, jobs))
    if context.mps:
        for jobs in context.pick(JOBS[1:], ()):
            yield Cell(
                f"{jobs}, MPS", partial(with_service, context, partial(measure, context, jobs))
            )


def measure(context: Context, jobs: int) -> Figures:
    """Seconds of a command with new trials, features and rates being known already."""
    count = context.pick(TRIALS, 1)
    settings = ["--tasks", "ncbi-disease", "--protocol", context.pick("standard", "smoke")]
    settings += context.pick(["--set", "epochs=2"], ["--set", "max_train=8", "--set", "max_eval=8"])
    settings += ["--seeds", str(count)]
    _warm_up(context, [*settings, "--jobs", str(jobs)])
    store = context.work / "jobs"
    shutil.rmtree(store, ignore_errors=True)
    with _memory() as most:
        begun = time.perf_counter()
        whole = _run(context, store, [*settings, "--jobs", str(jobs)])
        seconds = time.perf_counter() - begun
    done = len(list(trials(store)))
    figures = {"trials": done, "seconds": seconds, "memory": max(most) - most[0] if most else 0.0}
    if not whole:
        raise Unfinished(figures)
    if done < count:
        raise RuntimeError(f"{count - done} of {count} trials failed")
    return figures


def _warm_up(context: Context, settings: Sequence[str]) -> None:
    """Makes features once, and rates for each number of workers: they depend on the threads that a worker has."""
    warm = context.work / "jobs-warm"
    if not list(trials(warm)):
        _run(context, warm, [*settings, "--jobs", "1", "--seeds", "1"])
    _run(context, warm, [*settings, "--dry-run"])


def _run(context: Context, store: Path, settings: Sequence[str]) -> bool:
    return ended(context, command(context, context.model("MiniLM"), store, *settings))


@contextlib.contextmanager
def _memory() -> Iterator[list[float]]:
    """GiB of the card that all processes use, first of all before, then twice a second; empty without a card."""
    import torch

    seen: list[float] = []
    stop = threading.Event()

    def look() -> None:
        free, total = torch.cuda.mem_get_info()
        seen.append((total - free) / 2**30)

    def watch() -> None:
        while not stop.wait(0.5):
            look()

    thread = threading.Thread(target=watch, daemon=True)
    if torch.cuda.is_available():
        look()
        thread.start()
    try:
        yield seen
    finally:
        stop.set()
        if thread.is_alive():
            thread.join()


def with_service(context: Context, measured: Callable[[], Figures]) -> Figures:
    """A measurement while the service runs, with folders of its own.

    :raises RuntimeError: if there is no such service, or it does not start
    """
    if shutil.which(CONTROL) is None:
        raise RuntimeError(f"{CONTROL} is not on the path")
    folder = context.work / "mps"
    folder.mkdir(parents=True, exist_ok=True)
    names = {"CUDA_MPS_PIPE_DIRECTORY": str(folder), "CUDA_MPS_LOG_DIRECTORY": str(folder)}
    before = dict(os.environ)
    _quit(before | names)  # one of a part that was killed
    subprocess.run([CONTROL, "-d"], env=before | names, check=True, timeout=30)
    try:
        os.environ.update(names)  # commands that are started now use it
        return measured()
    finally:
        os.environ.clear()
        os.environ.update(before)
        _quit(before | names)


def _quit(environment: Mapping[str, str]) -> None:
    subprocess.run([CONTROL], input=b"quit\n", env=environment, check=False, timeout=30)


def rows(found: Mapping[str, Figures]) -> Sequence[Sequence[str]]:
    speeds = {
        name: 60 * one["trials"] / one["seconds"]
        for name, one in found.items()
        if not one.get("unfinished")
    }
    return [
        (
            name.partition(",")[0],
            "yes" if "MPS" in name else "no",
            str(found[name]["trials"]),
            f"{found[name]['seconds']:.0f}",
            f"{speed:.1f}",
            f"{speed / speeds['1']:.2f}" if "1" in speeds else "",
            f"{found[name]['memory']:.1f}" if found[name]["memory"] else "",
        )
        for name, speed in sorted(speeds.items(), key=lambda item: (len(item[0]), item[0]))
    ]
