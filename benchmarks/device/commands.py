"""`blurb run` on the machine with the card, and what its store then says."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.device.cells import Context
from blurb import tasks
from blurb.data.loading import path_of
from blurb.messages.errors import BlurbError
from blurb.store.record import Record

ENDING = 30.0
"""Seconds that a command has to save its trials and end."""


def command(context: Context, model: Path, store: Path, *more: str) -> list[str]:
    """`blurb run` of a model into a store, with its tables beside that."""
    where = ["--suite", "demo"] if context.small else ["--data", str(context.data)]
    places = ["--output", str(store), "--leaderboard", str(store.with_name(f"{store.name}.csv"))]
    return [
        sys.executable,
        "-m",
        "blurb",
        "run",
        str(model),
        *where,
        *places,
        "--device",
        context.device,
        *more,
    ]


def ended(context: Context, arguments: Sequence[str]) -> bool:
    """Runs a command to its end; False if the time was up, and the command was told to save what it has.

    :raises BlurbError: if it cannot start, with the last line of what it said
    """
    log = context.work / "command.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as said:
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=said)
        try:
            code = process.wait(context.left)
        except subprocess.TimeoutExpired:
            end(process)
            return False
    if code not in (0, 1):  # 1: a trial failed, the others count
        last = log.read_text(encoding="utf-8").strip().splitlines()[-1:] or ["it said nothing"]
        raise BlurbError(f"blurb run ended with {code}: {last[0]}")
    return True


def end(process: subprocess.Popen[bytes]) -> None:
    """Tells a command to save its trials, and kills it if it does not end."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(ENDING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def trials(store: Path) -> Iterator[Record]:
    """The finished trials of a store."""
    for done in sorted(store.glob("*/*/*/DONE.json")):
        yield Record(str(done.parent))


def sets_at_hand(folder: Path) -> list[tasks.Task]:
    """The datasets with all their files: BioASQ needs a registration, and the train set of EBM PICO may be missing."""
    return [
        task
        for task in tasks.all()
        if all(path_of(task, folder, split).is_file() for split in tasks.SPLITS)
    ]
