"""Scores the checkpoints of a series: all of them, or those that tell most in the time that there is."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from blurb.extensions.series.curves import Scored
from blurb.extensions.series.series import Series
from blurb.extensions.series.steps import Step
from blurb.results.row import Row
from blurb.statistics import smoothing
from blurb.statistics.smoothing import Floats, places

Score = Callable[[Sequence[Step], str], Mapping[str, Row]]
"""Fine-tunes checkpoints under a protocol: their names -> their rows; those whose trials failed are not among them."""


def everything(steps: Sequence[Step], score: Score, protocol: str) -> tuple[Scored, ...]:
    """All checkpoints under a protocol, at once: trials of different checkpoints may run side by side."""
    rows = score(steps, protocol) if steps else {}
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
    runs = list(dict.fromkeys(step.run for step in steps))
    while runs:
        for run in list(runs):
            own = {step.step: step for step in steps if step.run == run and step.name not in failed}
            known = {at: level for at, step in own.items() if (level := _value(rows, step, value)) is not None}
            at = following(list(own), known, smoothing.logarithmic(list(own)))
            if at is None:
                runs.remove(run)
                continue
            begun = now()
            if begun - started + statistics.fmean(took) > seconds:
                return tuple(Scored(step, rows.get(step.name)) for step in steps)
            found = score([own[at]], protocol)
            rows |= found
            if _value(rows, own[at], value) is None:
                failed.add(own[at].name)
            took = [*(each for each in took if each), now() - begun]
    return tuple(Scored(step, rows.get(step.name)) for step in steps)


def _value(rows: Mapping[str, Row], step: Step, value: Callable[[Row], float | None]) -> float | None:
    return value(rows[step.name]) if step.name in rows else None


def best_and_last(series: Series, score: Score, protocol: str) -> tuple[Scored, ...]:
    """The best checkpoint of each run, by its trend, and the last, under a dearer protocol."""
    chosen = [one.step for run in series.runs for one in (series.best(run), series.last(run)) if one is not None]
    return everything(list({step.name: step for step in chosen}.values()), score, protocol)


def following(steps: Sequence[int], known: Mapping[int, float], logarithmic: bool = True) -> int | None:
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
    there = [step for step in steps if step in known]
    where, values = places(there, logarithmic), np.asarray([known[step] for step in there])
    gaps = [place for place in range(len(there) - 1) if _inside(steps, there[place], there[place + 1])]
    if not gaps:
        return None
    unknown = [_disagreement(where, values, place) for place in gaps]
    widths = [where[place + 1] - where[place] for place in gaps]
    widest = max(widths)
    # Of gaps that the curve says nothing of, the widest: so a straight line is halved again and again.
    floor = 1e-3 * (float(np.ptp(values)) or 1.0)
    chosen = max(range(len(gaps)), key=lambda number: (unknown[number] + floor) * (widths[number] / widest))
    low, high = there[gaps[chosen]], there[gaps[chosen] + 1]
    candidates = _inside(steps, low, high)
    middle = float(np.mean(places([low, high], logarithmic)))
    return candidates[int(np.argmin(np.abs(places(candidates, logarithmic) - middle)))]


def _inside(steps: Sequence[int], low: int, high: int) -> list[int]:
    return [step for step in steps if low < step < high]


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
