"""Scores the checkpoints of a series: all of them, or those that tell most in the time that there is."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence

from blurb.extensions.series import schedule
from blurb.extensions.series.curves import Scored
from blurb.extensions.series.series import Series
from blurb.extensions.series.steps import Step
from blurb.results.row_scores import RowScores
from blurb.statistics import smoothing

Score = Callable[[Sequence[Step], str], Mapping[str, RowScores]]
"""Fine-tunes checkpoints under a protocol: their names -> their rows; those whose trials failed are not among them."""


def everything(steps: Sequence[Step], score: Score, protocol: str) -> tuple[Scored, ...]:
    """All checkpoints under a protocol, at once: trials of different checkpoints may run side by side."""
    rows = score(steps, protocol) if steps else {}
    return tuple(Scored(step, rows.get(step.name)) for step in steps)


def within(
    steps: Sequence[Step],
    score: Score,
    protocol: str,
    value: Callable[[RowScores], float | None],
    seconds: float,
    now: Callable[[], float] = time.monotonic,
    there: Mapping[str, RowScores] | None = None,
) -> tuple[Scored, ...]:
    """As many checkpoints as there is time for, the runs in turn; a checkpoint begins only if it is thought to end.

    :param value: what decides where a curve bends
    :param there: rows that are there already, and take no time
    """
    started, took = now(), [0.0]
    rows: dict[str, RowScores] = dict(there or {})
    failed: set[str] = set()
    runs = list(dict.fromkeys(step.run for step in steps))
    while runs:
        for run in list(runs):
            own = {step.step: step for step in steps if step.run == run and step.name not in failed}
            known = {at: level for at, step in own.items() if (level := _value(rows, step, value)) is not None}
            at = schedule.following(list(own), known, smoothing.logarithmic(list(own)))
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


def _value(rows: Mapping[str, RowScores], step: Step, value: Callable[[RowScores], float | None]) -> float | None:
    return value(rows[step.name]) if step.name in rows else None


def best_and_last(series: Series, score: Score, protocol: str) -> tuple[Scored, ...]:
    """The best checkpoint of each run, by its trend, and the last, under a dearer protocol."""
    chosen = [one.step for run in series.runs for one in (series.best(run), series.last(run)) if one is not None]
    return everything(list({step.name: step for step in chosen}.values()), score, protocol)
