"""The intervals of a row's numbers, from runs with predictions, or from runs alone."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from blurb.leaderboard.html.model import Value
from blurb.results import predictions
from blurb.results.row_scores import RowScores
from blurb.results.score import dataset_weights, type_weights, weights_of_12
from blurb.statistics import bootstrap
from blurb.statistics.bootstrap import RESAMPLES, BootstrapMean
from blurb.statistics.clusters import generator
from blurb.statistics.student import half_width


@dataclass(frozen=True)
class Known:
    """The mean of one dataset, with resamples if available."""

    value: Value
    spread: BootstrapMean | None = None


def of_row(row: RowScores) -> dict[str, Known]:
    """The datasets of a row with a score on test."""
    found = {}
    for task, mean in row.means().items():
        values = row.values(task)
        if not values:
            found[task] = Known(Value(mean))
            continue
        one = predictions.load(row.records_of(task))
        if one is None:  # no predictions, or every seed was scored on other units
            found[task] = of_runs(task, values)
            continue
        spread = bootstrap.spread(one, task)
        # The mean is that of the tables: equal to a rounding error, and printed the same everywhere.
        value = Value(statistics.fmean(values), *spread.interval, "both" if len(values) > 1 else "units")
        found[task] = Known(value, spread)
    return found


def of_runs(task: str, values: list[float]) -> Known:
    """A dataset for which only the scores of the runs are known."""
    mean, half = statistics.fmean(values), half_width(values)
    if half is None:
        return Known(Value(mean))
    variance = statistics.variance(values) / len(values)
    draws = mean + variance**0.5 * generator(task).standard_normal(RESAMPLES)
    spread = BootstrapMean(mean, draws, len(values), variance**2 / (len(values) - 1))
    return Known(Value(mean, mean - half, mean + half, "seeds"), spread)


def averages(known: Mapping[str, Known]) -> tuple[dict[str, Value], Value | None, Value | None]:
    """The complete task-type means; the score, and the mean without BioASQ, if all their datasets are present."""
    types = {}
    for kind, shares in type_weights().items():
        if (value := _average(known, shares)) is not None:
            types[str(kind)] = value
    return types, _average(known, dataset_weights()), _average(known, weights_of_12())


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
