"""A trial that is killed and goes on from its checkpoint: its answers are those of a trial that was never killed."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks.device.cells import Cell, Context, Figures
from benchmarks.device.commands import command, ended, trials

SIGNALS = ("SIGKILL", "SIGTERM")
COLUMNS = (
    "encoder",
    "signal",
    "went on after step",
    "answers that differ",
    "seconds without",
    "seconds after the signal",
)
CHECKPOINT = "*/*/.*.checkpoint/*"


def cells(context: Context) -> Iterator[Cell]:
    for name in context.pick(SIGNALS, SIGNALS[:1]):
        yield Cell(f"MiniLM, {name}", partial(measure, context, name))


def measure(context: Context, name: str) -> Figures:
    """Runs a trial whole, and again with a signal to the whole command as soon as there is a checkpoint.

    :raises RuntimeError: if the trial ended before the signal
    """
    settings = ["--tasks", "ncbi-disease", "--seeds", "1", "--resume-trials"]
    settings += context.pick(
        ["--protocol", "standard", "--set", "epochs=4"],
        ["--protocol", "smoke", "--set", "epochs=12"],
    )
    whole, killed = context.work / "resume-whole", context.work / "resume-killed"
    seconds = {}
    for store in (whole, killed):
        if store == whole and list(trials(store)):
            continue
        shutil.rmtree(store, ignore_errors=True)
        arguments = command(context, context.model("MiniLM"), store, *settings)
        if store == killed:
            _killed(context, arguments, store, signal.Signals[name])
        begun = time.perf_counter()
        if not ended(context, arguments):
            raise RuntimeError("the time was up")
        seconds[store] = time.perf_counter() - begun
    (one,), (other,) = list(trials(whole)), list(trials(killed))
    pairs = zip(
        one.predictions("test")["prediction"], other.predictions("test")["prediction"], strict=True
    )
    resumed = other.provenance.facts.get("resumed") or {}
    return {
        "differ": sum(left != right for left, right in pairs),
        "step": resumed.get("step"),
        "whole": seconds.get(whole),
        "rest": seconds[killed],
    }


def _killed(
    context: Context, arguments: Sequence[str], store: Path, number: signal.Signals
) -> None:
    """Starts a command, and ends all its processes once a checkpoint is complete."""
    process = subprocess.Popen(
        arguments, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while not list(store.glob(CHECKPOINT)):
            if process.poll() is not None or context.left <= 1:
                raise RuntimeError("the trial ended before it had a checkpoint")
            time.sleep(0.05)
        os.killpg(process.pid, number)
        process.wait(60)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def rows(found: Mapping[str, Figures]) -> Sequence[Sequence[str]]:
    return [
        (
            *name.split(", "),
            str(one["step"] if one["step"] is not None else "the beginning"),
            str(one["differ"]),
            f"{one['whole']:.0f}" if one["whole"] else "",
            f"{one['rest']:.0f}",
        )
        for name, one in found.items()
    ]
