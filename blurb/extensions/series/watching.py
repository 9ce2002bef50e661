"""Watches a training: each new checkpoint is scored once it is complete, until the run ends."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from blurb.extensions.series.finding import FoundCheckpoints
from blurb.extensions.series.steps import Step
from blurb.system.files import SEAL

PAUSE, IDLE = 30.0, 7_200.0
"""Seconds between two looks, and after which a run without a new checkpoint has ended."""
Stamp = tuple[tuple[str, int, int], ...]
"""Names, sizes and times of the files of a folder."""


@dataclass(frozen=True)
class Pace:
    """How a watch keeps time.

    :param pause: seconds between two looks; a folder must not change between two of them, unless it is sealed
    :param idle: seconds after which a run without a new checkpoint has ended
    """

    pause: float = PAUSE
    idle: float = IDLE
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.monotonic


def watch(
    look: Callable[[], FoundCheckpoints],
    score: Callable[[Step], None],
    pace: Pace | None = None,
    done: Iterable[str] = (),
    tell: Callable[[str], None] | None = None,
) -> FoundCheckpoints:
    """Scores every checkpoint that appears, in the order of the steps; returns what was found in the end.

    A folder on a network disk appears before its files do, and files before their last bytes: what is not whole is
    looked at again, and so is what changed since the last look. The run has ended when its last planned step is scored,
    or when nothing new has come for long.

    :param look: finds the checkpoints that are whole; an empty answer is a run that has not begun
    :param score: called once for each
    :param done: names that need no scoring
    :param tell: called once for each note of two looks in a row: a checkpoint that is still copied is in one of them
    """
    pace = pace or Pace()
    seen: dict[str, Stamp] = {}
    finished, newest = set(done), pace.now()
    notes: dict[str, int] = {}
    while True:
        checkpoints = look()
        notes = {note: notes.get(note, 0) + 1 for note in checkpoints.left_out}
        for note, looks in notes.items():
            if looks == 2 and tell is not None:
                tell(note)
        waiting = [step for step in checkpoints.steps if step.name not in finished]
        ready = [step for step in waiting if _settled(step, seen)]
        for step in ready:
            score(step)
            finished.add(step.name)
            newest = pace.now()
        if len(ready) == len(waiting) and _ended(checkpoints.steps, finished):
            return checkpoints
        if pace.now() - newest > pace.idle:
            return checkpoints
        if not ready:
            pace.sleep(pace.pause)


def _settled(step: Step, seen: dict[str, Stamp]) -> bool:
    """Whether a checkpoint is as it was at the last look; a sealed one was found to be whole."""
    folder = Path(step.reference)
    if not folder.is_dir() or (folder / SEAL).is_file():
        return True
    before, seen[step.name] = seen.get(step.name), _stamp(folder)
    return before is not None and before == seen[step.name]


def _stamp(folder: Path) -> Stamp:
    try:
        with os.scandir(folder) as entries:
            stats = [(entry.name, entry.stat()) for entry in entries]
    except OSError:  # it goes away while we look
        return ()
    return tuple(sorted((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats))


def _ended(steps: Sequence[Step], finished: set[str]) -> bool:
    """Whether every run has its last planned step, with a score."""
    runs = {step.run for step in steps}
    last = {
        step.run for step in steps if step.planned is not None and step.step >= step.planned and step.name in finished
    }
    return bool(runs) and runs == last
