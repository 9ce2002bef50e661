"""Which figures there can be: a number outside the range of its metric is damage, wherever it is read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, TypedDict

from blurb import metrics, tasks
from blurb.metrics import Metric


class Scores(TypedDict):
    """All metrics of a task by split, as fractions."""

    dev: Annotated[Mapping[str, float], "on dev"]
    test: Annotated[Mapping[str, float], "on test"]


class Figures(Scores):
    """What `metrics.json` has of a trial."""

    metrics_version: Annotated[int, "version of the metrics that gave them"]
    metric: Annotated[str, "the one that is the score"]
    majority: Annotated[Scores, "those of the majority answer"]


def admits(task: str, name: str, value: float) -> bool:
    """Whether a figure of a task can be this number, as a fraction or a count.

    :param name: of one of the values of the task's metric

    >>> admits("gad", "f1", 0.8), admits("gad", "f1", 7.0), admits("biosses", "pearson", -0.1)
    (True, False, True)
    """
    if not math.isfinite(value):
        return False
    known = _metric(task)
    if known is not None:
        return known.admits(name, value)
    return any(one.admits(name, value) for one in metrics.usable())


def admits_in_tables(task: str, name: str, value: float) -> bool:
    """The same of a number times 100, as tables have all but counts and losses."""
    if not math.isfinite(value):
        return False
    known = _metric(task)
    every = [known] if known is not None else metrics.usable()
    return any(one.admits(name, value if name in one.unscaled else value / 100) for one in every)


def bounds(task: str) -> tuple[float, float]:
    """The least and the greatest score of a task, times 100.

    >>> bounds("gad"), bounds("biosses")
    ((0.0, 100.0), (-100.0, 100.0))
    """
    known = _metric(task)
    return (-100.0 if known is None else 100 * known.low), 100.0


def within(low: float, high: float, task: str) -> tuple[float, float]:
    """The ends of an interval of a score, cut at its bounds: nobody has a score beyond.

    >>> within(-4.0, 113.5, "gad"), within(-123.0, 50.0, "biosses")
    ((0.0, 100.0), (-100.0, 50.0))
    """
    least, most = bounds(task)
    return max(low, least), min(high, most)


@lru_cache(maxsize=256)
def _metric(task: str) -> Metric | None:
    """The metric of a task that is known here; None for a task or a metric that is not installed."""
    known = tasks.known(task)
    return None if known is None else metrics.known(known.metric)
