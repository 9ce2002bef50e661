"""The intervals of a row's numbers, from runs with predictions, or from runs alone."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import blurb
from blurb import metrics
from blurb.messages import BlurbError, StoreError, tell_damage, with_effect
from blurb.results.row import Published, Row
from blurb.results.score import SCORE, mean_weights
from blurb.statistics import bootstrap
from blurb.statistics.welch import half_width
from blurb.store.record import score_bounds
from blurb.system import cache
from blurb.system.files import text_hash, write_whole

RESAMPLES = 2_000
"""Number of resamples; enough for the digits shown in a table."""
BASES = {
    "both": "seeds and test examples",
    "units": "test examples only",
    "seeds": "seeds only",
    "": "no interval",
}
"""The sources of the variance of an interval."""


@dataclass(frozen=True)
class Value:
    """One number with its 95 % interval.

    :param basis: a key of `BASES`
    """

    mean: float
    low: float | None = None
    high: float | None = None
    basis: str = ""

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends, if they are known."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True)
class Known:
    """The mean of one dataset, with resamples if available."""

    value: Value
    spread: bootstrap.BootstrapMean | None = None


def numbers(
    row: Row, resamples: int = RESAMPLES, without: Mapping[str, Collection[str]] | None = None
) -> dict[str, Value]:
    """The numbers of a row on test by name: its datasets, complete task types, `score` and `blurb-12`.

    :param resamples: number of resamples; 0 for means without intervals
    :param without: dataset -> ids of test examples to leave out; where nothing is left, or where the seeds were scored
        on examples of their own, a dataset has no score
    """
    known = _known_datasets(row, resamples, without or {})
    known = {
        name: replace(each, value=within(each.value, {name: 1.0})) for name, each in known.items()
    }
    means = averages(known)
    if isinstance(row, Published) and row.printed is not None:
        means[SCORE] = Value(row.printed)
    shown = row.overall_means()
    return {name: each.value for name, each in known.items()} | {
        name: value for name, value in means.items() if name in shown
    }


def _known_datasets(
    row: Row, resamples: int, without: Mapping[str, Collection[str]]
) -> dict[str, Known]:
    known = {}
    for task, mean in row.means().items():
        dropped = without.get(task, ())
        values = row.values(task) if resamples or dropped else []
        columns = _load_clusters(row, task, dropped) if values else None
        if columns is None and dropped:
            continue
        # The mean is that of the tables: equal to a rounding error, and printed the same everywhere.
        mean = float(columns.scores.mean()) if columns is not None and dropped else mean
        if columns is not None and resamples:
            spread = bootstrap.spread(columns, task, resamples)
            known[task] = Known(
                Value(mean, *spread.interval, "both" if len(values) > 1 else "units"), spread
            )
        elif values and resamples:  # no predictions, or every seed was scored on other units
            known[task] = run_numbers(task, values, resamples)
        else:
            known[task] = Known(Value(mean))
    return known


def run_numbers(task: str, values: list[float], resamples: int = RESAMPLES) -> Known:
    """A dataset for which only the scores of the runs are known."""
    mean, half = statistics.fmean(values), half_width(values)
    if half is None:
        return Known(Value(mean))
    variance = statistics.variance(values) / len(values)
    draws = mean + variance**0.5 * bootstrap.generator(task).standard_normal(resamples)
    spread = bootstrap.BootstrapMean(mean, draws, len(values), variance**2 / (len(values) - 1))
    return Known(Value(mean, mean - half, mean + half, "seeds"), spread)


def joint_draws(
    row: Row,
    task: str,
    value: Value,
    resamples: int = RESAMPLES,
    without: Mapping[str, Collection[str]] | None = None,
) -> NDArray[np.float64]:
    """Resamples of a dataset's mean, (resamples,), times 100, whose examples are the same for all rows.

    A mean without an interval is the same in all of them.

    :param value: its mean and interval, which say whether there are predictions (`numbers`)
    :param without: as of `numbers`
    """
    own = bootstrap.generator(f"{task} of {' '.join(row.primary_key)}")
    resampled = value.basis in ("both", "units")
    columns = _load_clusters(row, task, (without or {}).get(task, ())) if resampled else None
    if columns is not None:
        return bootstrap.joint_draws(columns, task, own, resamples)
    runs = row.values(task) if value.basis else []
    return value.mean + bootstrap.moved_by_runs(np.array(runs), own, resamples)


def _load_clusters(row: Row, task: str, dropped: Collection[str]) -> bootstrap.Clusters | None:
    # Not before: means alone need no arrays, whose libraries take longer than all means.
    from blurb.results import predictions

    records = row.records_of(task).items()  # rows keep what they read
    try:
        return predictions.load_clusters(
            {seed: replace(record) for seed, record in records}, drop=dropped
        )
    except StoreError as error:  # one trial must not cost all rows their table
        effect = "is left out" if dropped else "has an interval over seeds alone"
        tell_damage(with_effect(error, f"{task} of {row.name} {effect}"))
        return None


def averages(known: Mapping[str, Known]) -> dict[str, Value]:
    """The task-type means, the score, and the mean without BioASQ, of which all datasets are present."""
    return {
        name: value
        for name, shares in mean_weights().items()
        if (value := _weighted_average(known, shares)) is not None
    }


def _weighted_average(known: Mapping[str, Known], shares: Mapping[str, float]) -> Value | None:
    if not set(shares) <= set(known):
        return None
    if len(shares) == 1:  # the mean of one dataset is that dataset, with one interval
        return known[next(iter(shares))].value
    mean = sum(share * known[name].value.mean for name, share in shares.items())
    spreads = {name: one.spread for name in shares if (one := known[name]).spread is not None}
    if spreads.keys() != shares.keys():
        return Value(mean)

    whole = bootstrap.averaged(spreads, shares)
    if whole is None:
        return Value(mean)
    bases = {known[name].value.basis for name in shares}
    # The weakest part names the whole: a mean that knows nothing of one dataset's other seeds must not say it does.
    basis = next(name for name in ("units", "seeds", "both") if name in bases)
    return within(Value(mean, *whole.interval, basis), shares)


def within(value: Value, shares: Mapping[str, float]) -> Value:
    """A value with its interval cut at the bounds of its datasets' metrics."""
    if value.low is None or value.high is None:
        return value
    ends = [score_bounds(name) for name in shares]
    low, high = (
        sum(share * end[side] for share, end in zip(shares.values(), ends, strict=True))
        for side in (0, 1)
    )
    return replace(value, low=max(value.low, low), high=min(value.high, high))


KIND = "intervals"
UNSEEN = 1.0
"""Seconds without a bar."""
SAVED = 5.0
"""Seconds between two writes, so that an interrupted command goes on from there the next time."""
Ends = dict[str, tuple[float, float, str]]
"""Name of a number -> both ends of its interval, and `Value.basis`."""


def all_numbers(rows: Sequence[Row], store: Path) -> list[dict[str, Value]]:
    """The numbers of rows with their intervals, as `intervals.numbers` has them; with a bar if that takes long.

    :param store: whose rows they are, or most of them
    """
    kept = IntervalCache(store)
    by_row: dict[int, dict[str, Value]] = {}
    missing: list[int] = []
    for place, row in enumerate(rows):
        ends = kept.find(row)
        if ends is None:
            missing.append(place)
        else:
            means = numbers(row, resamples=0)
            by_row[place] = {
                name: Value(one.mean, *ends.get(name, ())) for name, one in means.items()
            }
    for place in _with_bar(missing):
        by_row[place] = numbers(rows[place], RESAMPLES)
        kept.add(rows[place], by_row[place])
    kept.save()
    return [by_row[place] for place in range(len(rows))]


def _with_bar(places: list[int]) -> Iterator[int]:
    """The places, with a bar in a terminal as soon as they take long."""
    begun = time.monotonic()
    for done, place in enumerate(places):
        if sys.stderr.isatty() and time.monotonic() - begun > UNSEEN:
            from rich.progress import track

            from blurb.terminal.output import make_console

            yield from track(
                places[done:],
                "intervals (kept for the next time)",
                console=make_console(stderr=True),
                transient=True,
            )
            return
        yield place


class IntervalCache:
    """The intervals of the rows of a store, in a file of the cache; a damaged file counts as missing.

    A file has the last state of each row, so it does not grow with the trials.
    """

    def __init__(self, store: Path) -> None:
        self.path = cache.cache_home() / KIND / f"{text_hash(str(store.absolute()))[:16]}.json"
        self._version = [blurb.__version__, metrics.VERSION, bootstrap.VERSION, RESAMPLES]
        self._rows: dict[str, tuple[str, Ends]] = {}
        self._changed = False
        self._saved = time.monotonic()
        with suppress(OSError, ValueError, TypeError, AttributeError, KeyError):
            content = json.loads(self.path.read_text(encoding="utf-8"))
            if content["version"] == self._version:
                self._rows = {
                    name: (
                        str(stamp),
                        {
                            of: (float(low), float(high), str(basis))
                            for of, (low, high, basis) in ends.items()
                        },
                    )
                    for name, (stamp, ends) in content["rows"].items()
                }

    def find(self, row: Row) -> Ends | None:
        """The intervals of a row whose trials have not changed; None if they must be computed."""
        known = self._rows.get(_cache_key(row))
        return known[1] if known is not None and known[0] == row.stamp and row.stamp else None

    def add(self, row: Row, values: Mapping[str, Value]) -> None:
        """Keeps the intervals of a row, unless its trials cannot be told from others.

        Nor if one is over seeds only, of a dataset with predictions: these may be damaged, to be reported every time.
        """
        damaged = any(values[name].basis == "seeds" for name in row.records if name in values)
        if row.stamp and not damaged:
            ends = {
                name: (*one.interval, one.basis)
                for name, one in values.items()
                if one.interval is not None
            }
            self._rows[_cache_key(row)] = row.stamp, ends
            self._changed = True
            if time.monotonic() - self._saved > SAVED:
                self.save()

    def save(self) -> None:
        """Writes what is new; a cache that cannot be written costs time, never a table."""
        self._saved = time.monotonic()
        if not self._changed:
            return
        self._changed = False
        with suppress(OSError, BlurbError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(
                self.path, json.dumps({"version": self._version, "rows": self._rows}).encode()
            )


def _cache_key(row: Row) -> str:
    return f"{row.model} {row.key}"
