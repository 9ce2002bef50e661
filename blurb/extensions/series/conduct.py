"""Scores the checkpoints of a series: all of them, those that tell most in the time, or each as it appears."""

from __future__ import annotations

import contextlib
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from blurb.extensions.series.curves import Scored, Step
from blurb.extensions.series.finding import FoundCheckpoints
from blurb.extensions.series.series import Series
from blurb.extensions.series.smoothing import Floats, axis_places, needs_log_axis
from blurb.results.row import Row
from blurb.system.files import SEAL

Score = Callable[[Sequence[Step], str], Mapping[str, Row]]
"""Fine-tunes checkpoints under a protocol: their names -> their rows; those whose trials failed are not among them."""


def everything(steps: Sequence[Step], score: Score, protocol: str) -> tuple[Scored, ...]:
    """All checkpoints under a protocol, at once: trials of different checkpoints may run side by side."""
    return with_rows(steps, score(steps, protocol) if steps else {})


def with_rows(steps: Sequence[Step], rows: Mapping[str, Row]) -> tuple[Scored, ...]:
    """Checkpoints with what there is of rows by their names."""
    return tuple(Scored(step, rows.get(step.name)) for step in steps)


def within(
    steps: Sequence[Step],
    score: Score,
    protocol: str,
    value: Callable[[Row], float | None],
    seconds: float,
    now: Callable[[], float] = time.monotonic,
    there: Mapping[str, Row] | None = None,
) -> tuple[Scored, ...]:
    """As many checkpoints as there is time for, the runs in turn; a checkpoint begins only if it is thought to end.

    :param value: what decides where a curve bends
    :param there: rows that are there already, and take no time
    """
    started, took = now(), [0.0]
    rows: dict[str, Row] = dict(there or {})
    failed: set[str] = set()

    def level_of(step: Step) -> float | None:
        return value(rows[step.name]) if step.name in rows else None

    runs = list(dict.fromkeys(step.run for step in steps))
    while runs:
        for run in list(runs):
            own = {step.step: step for step in steps if step.run == run and step.name not in failed}
            known = {at: level for at, step in own.items() if (level := level_of(step)) is not None}
            if (at := following(list(own), known, needs_log_axis(list(own)))) is None:
                runs.remove(run)
                continue
            start_time = now()
            if start_time - started + statistics.fmean(took) > seconds:
                return with_rows(steps, rows)
            rows |= score([own[at]], protocol)
            if level_of(own[at]) is None:
                failed.add(own[at].name)
            took = [*(each for each in took if each), now() - start_time]
    return with_rows(steps, rows)


def best_and_last(series: Series, score: Score, protocol: str) -> tuple[Scored, ...]:
    """The best checkpoint of each run, by its trend, and the last, under a dearer protocol."""
    chosen = {
        one.step.name: one.step
        for run in series.runs
        for one in (series.best(run), series.last(run))
        if one is not None
    }
    return everything(list(chosen.values()), score, protocol)


def following(
    steps: Sequence[int], known: Mapping[int, float], logarithmic: bool = True
) -> int | None:
    """The step to look at next: the first, the last, the geometric middle, then where the curve bends; None at the end.

    Between two known steps the curve is unknown by as much as the lines through their neighbours disagree there; the
    middle of the gap where that is most comes next. So looks gather about a knee, and a straight part gets few.

    :param steps: all steps, ascending
    :param known: step -> value of those that were looked at; one that failed is left out of `steps`
    :param logarithmic: whether the middle is the geometric one
    """
    if not steps:
        return None
    for step in (steps[0], steps[-1]):
        if step not in known:
            return step
    present = [step for step in steps if step in known]
    where, values = axis_places(present, logarithmic), np.asarray([known[step] for step in present])
    gaps = {  # place of the step before -> the steps inside
        place: inside
        for place, (low, high) in enumerate(pairwise(present))
        if (inside := [step for step in steps if low < step < high])
    }
    if not gaps:
        return None
    # Of gaps that the curve says nothing of, the widest: so a straight line is halved again and again.
    floor = 1e-3 * (float(np.ptp(values)) or 1.0)
    widths = np.diff(where)
    widest = max(widths[place] for place in gaps)
    chosen = max(
        gaps,
        key=lambda place: (_disagreement(where, values, place) + floor) * (widths[place] / widest),
    )
    middle = float(np.mean(axis_places(present[chosen : chosen + 2], logarithmic)))
    candidates = gaps[chosen]
    return candidates[int(np.argmin(np.abs(axis_places(candidates, logarithmic) - middle)))]


def _disagreement(where: Floats, values: Floats, place: int) -> float:
    """How far the lines that come into a gap from both sides are from the chord, in its middle."""
    middle = (where[place] + where[place + 1]) / 2
    chord = (values[place] + values[place + 1]) / 2
    distance = 0.0
    for near, far in ((place, place - 1), (place + 1, place + 2)):
        if 0 <= far < len(where):
            slope = (values[near] - values[far]) / (where[near] - where[far])
            distance = max(distance, abs(values[near] + slope * (middle - where[near]) - chord))
    return distance if len(where) > 2 else float(np.ptp(values))


Stamp = tuple[tuple[str, int, int], ...]
"""Names, sizes and times of the files of a folder."""


def watch(
    look: Callable[[], FoundCheckpoints],
    score: Callable[[Step], None],
    pause: float,
    idle: float,
    tell: Callable[[str], None] | None = None,
    sleep: Callable[[float], None] = time.sleep,
    now: Callable[[], float] = time.monotonic,
) -> FoundCheckpoints:
    """Scores every checkpoint that appears, in the order of the steps; returns what was found in the end.

    A folder on a network disk appears before its files do, and files before their last bytes: what is not whole is
    looked at again, and so is what changed since the last look. The run has ended when its last planned step is scored,
    or when nothing new has come for long.

    :param look: finds the checkpoints that are whole; an empty answer is a run that has not begun
    :param score: called once for each
    :param pause: seconds between two looks; a folder must not change between two of them, unless it is sealed
    :param idle: seconds after which a run without a new checkpoint has ended
    :param tell: called once for each note of two looks in a row: a checkpoint that is still copied is in one of them
    """
    seen: dict[str, Stamp] = {}
    finished: set[str] = set()
    newest = now()
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
            newest = now()
        # A run has ended when its last planned step has a score.
        ended = {
            step.run
            for step in checkpoints.steps
            if step.name in finished and step.planned is not None and step.step >= step.planned
        }
        have_ended = bool(ended) and ended == {step.run for step in checkpoints.steps}
        if (have_ended and ready == waiting) or now() - newest > idle:
            return checkpoints
        if not ready:
            sleep(pause)


def _settled(step: Step, seen: dict[str, Stamp]) -> bool:
    """Whether a checkpoint is as it was at the last look; a sealed one was found to be whole."""
    folder = Path(step.reference)
    if not folder.is_dir() or (folder / SEAL).is_file():
        return True
    stats: list[tuple[str, os.stat_result]] = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:  # it goes away while we look
        stats = [(entry.name, entry.stat()) for entry in entries]
    before = seen.get(step.name)
    seen[step.name] = tuple(sorted((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats))
    return before == seen[step.name]
