"""The leaderboard for people: rows with intervals, and ranks that do not pretend to more than the intervals show."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from blurb.results import published, units
from blurb.results.rows import Result, names
from blurb.results.score import blurb_score, members, type_means, weights
from blurb.runs.spec import PROBE
from blurb.statistics import bootstrap

SCORE = "score"
RESAMPLES = 2_000
"""Enough for the two digits that a table shows."""


@dataclass(frozen=True)
class Entry:
    """One row.

    :param name: model, and configuration or source
    :param values: dataset, task type and `score` -> mean, as far as they are there
    :param intervals: likewise, 95 %; only of rows with predictions
    :param runs: numbers of runs of the datasets
    :param note: what to know before comparing it
    :param capped: scored on a part of the units: shown, and never ranked
    :param probe: of a frozen encoder: ranked among its like
    """

    name: str
    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    runs: frozenset[int] = frozenset()
    note: str = ""
    capped: bool = False
    probe: bool = False


def of_result(
    row: Result, resampled: bool = True, without: Mapping[str, Collection[str]] | None = None, label: str = ""
) -> Entry:
    """A row of the store.

    :param resampled: with intervals over runs and test units
    :param without: dataset -> test units to leave out; the values are then those of the rest
    :param label: that tells it from the rows beside it
    """
    spreads: dict[str, bootstrap.Spread] = {}
    values = dict(row.means())
    for name in list(values):
        if not resampled and not without:
            continue
        dropped = (without or {}).get(name, ())
        found = units.load(row.records[name], drop=dropped)
        if found is None and dropped:  # seeds were scored on units of their own: what is left is not known
            del values[name]
        elif found is not None and len(found.names):
            values[name] = float(found.scores.mean())
            if resampled:
                spreads[name] = bootstrap.spread(found, name, RESAMPLES)
    intervals = {name: one.interval for name, one in spreads.items()}
    groups: dict[str, Mapping[str, float]] = {
        kind: {task.name: 1 / len(group) for task in group} for kind, group in members().items()
    }
    groups[SCORE] = weights()
    for name, shares in groups.items():
        whole = bootstrap.averaged(spreads, shares)
        if whole is not None:
            intervals[name] = whole.interval
    runs = frozenset(len(row.seeds(name)) for name in values)
    probe = row.learner == PROBE
    return Entry(label or names([row])[0], _with_means(values), intervals, runs, row.note, row.capped, probe)


def of_published(row: published.PublishedRow) -> Entry:
    """A row without predictions."""
    values = _with_means(row.scores)
    if row.total is not None:
        values[SCORE] = row.total
    return Entry(f"{row.model} ({row.source})", values, {}, frozenset(row.runs.values()), "; ".join(row.notes))


def _with_means(values: Mapping[str, float]) -> dict[str, float]:
    score = blurb_score(values)
    means: dict[str, float] = {**values, **type_means(values)}  # type: ignore[dict-item]
    return means if score is None else {**means, SCORE: score}


def select(rows: Sequence[Result], model: str = "*", protocol: str = "*", head: str = "*") -> list[Result]:
    """Rows whose model, protocol (with or without its version) and some head fit the patterns (`*` and `?`)."""

    def heads(row: Result) -> set[str]:
        records = [record for seeds in row.records.values() for record in seeds.values()]
        return {str(record.trial.settings.get("head", "")) for record in records}

    return [
        row
        for row in rows
        if fnmatch.fnmatch(row.model, model)
        and any(fnmatch.fnmatch(name, protocol) for name in _versions(row.configuration.protocol))
        and any(fnmatch.fnmatch(name, head) for name in heads(row))
    ]


def _versions(protocol: str) -> tuple[str, str]:
    return protocol, protocol.partition("@")[0]


def ranked(entries: Sequence[Entry], column: str) -> list[tuple[str, Entry]]:
    """Entries from the best down, with their ranks: `2-4` where intervals do not separate it from its neighbours.

    A row is surely behind another only if its interval ends where the other's begins. A number without an interval
    counts as exact, as nothing is known of it. Probes come last, ranked among themselves (`probe 1`).
    """
    probes = [entry for entry in entries if entry.probe]
    if probes and len(probes) < len(entries):
        rest = [entry for entry in entries if not entry.probe]
        return ranked(rest, column) + ranked(probes, column)

    def bounds(entry: Entry) -> tuple[float, float]:
        return entry.intervals.get(column, (entry.values[column], entry.values[column]))

    there = sorted((entry for entry in entries if column in entry.values and not entry.capped), key=_by(column))
    found = []
    for entry in there:
        low, high = bounds(entry)
        best = 1 + sum(bounds(other)[0] > high for other in there if other is not entry)
        worst = len(there) - sum(bounds(other)[1] < low for other in there if other is not entry)
        rank = str(best) if best == worst else f"{best}-{worst}"
        found.append((f"probe {rank}" if probes else rank, entry))
    return found + [("", entry) for entry in entries if entry not in there]


def _by(column: str) -> Callable[[Entry], tuple[float, str]]:
    return lambda entry: (-entry.values[column], entry.name)
