"""The interval of every number of a row, by what is there: runs with predictions, runs, or neither."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from blurb.leaderboard.html.model import Value
from blurb.results import units
from blurb.results.rows import Result
from blurb.results.score import members, weights
from blurb.statistics import bootstrap
from blurb.statistics.bootstrap import RESAMPLES, Spread
from blurb.statistics.clusters import generator
from blurb.statistics.student import half_width


@dataclass(frozen=True)
class Known:
    """The mean of one dataset, and resamples of it where they can be had."""

    value: Value
    spread: Spread | None = None


def of_result(row: Result) -> dict[str, Known]:
    """The datasets of a row of the store."""
    found = {}
    for task in row.records:
        values = row.values(task)
        one = units.load(row.records[task])
        if one is None:  # every seed was scored on other units
            found[task] = of_runs(task, values)
            continue
        spread = bootstrap.spread(one, task)
        # The mean is that of the tables: equal to a rounding error, and printed the same everywhere.
        value = Value(statistics.fmean(values), *spread.interval, "both" if len(values) > 1 else "units")
        found[task] = Known(value, spread)
    return found


def of_runs(task: str, values: list[float]) -> Known:
    """A dataset of which only the scores of the runs are known."""
    mean, half = statistics.fmean(values), half_width(values)
    if half is None:
        return Known(Value(mean))
    variance = statistics.variance(values) / len(values)
    draws = mean + variance**0.5 * generator(task).standard_normal(RESAMPLES)
    spread = Spread(mean, draws, len(values), variance**2 / (len(values) - 1))
    return Known(Value(mean, mean - half, mean + half, "seeds"), spread)


def averages(known: Mapping[str, Known]) -> tuple[dict[str, Value], Value | None]:
    """Task-type means that are there whole, and the score if all thirteen are."""
    types = {}
    for kind, group in members().items():
        shares = {task.name: 1 / len(group) for task in group}
        if (value := _average(known, shares)) is not None:
            types[str(kind)] = value
    return types, _average(known, weights())


def _average(known: Mapping[str, Known], shares: Mapping[str, float]) -> Value | None:
    if not set(shares) <= set(known):
        return None
    mean = sum(share * known[name].value.mean for name, share in shares.items())
    spreads = {name: one.spread for name in shares if (one := known[name]).spread is not None}
    whole = bootstrap.averaged(spreads, shares)
    if whole is None:
        return Value(mean)
    bases = {known[name].value.basis for name in shares}
    # The weakest part names the whole: a mean that knows nothing of one dataset's other seeds must not say it does.
    basis = next(name for name in ("units", "seeds", "both") if name in bases)
    return Value(mean, *whole.interval, basis)
