"""Ranks rows with intervals; ranks are ranges where the intervals overlap."""

from __future__ import annotations

import fnmatch
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from blurb.leaderboard import intervals
from blurb.leaderboard.intervals import Value
from blurb.names import by_number
from blurb.results import groups
from blurb.results.groups import Standing
from blurb.results.row_scores import DEMO, RowScores


@dataclass(frozen=True)
class RankedRow:
    """One row.

    :param name: model, and configuration or source
    :param values: dataset, task type and `score` -> mean, if available
    :param intervals: the same, 95 % intervals; not of published numbers and single runs without predictions
    :param runs: numbers of runs of the datasets
    :param note: what to know before comparing it
    :param capped: only some of the examples were scored
    :param mark: stands before its rank
    :param published: numbers of a paper
    :param synthetic: of the demo suite
    :param standing: among which rows it is ranked
    """

    name: str
    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    runs: frozenset[int] = frozenset()
    note: str = ""
    capped: bool = False
    mark: str = ""
    published: bool = False
    synthetic: bool = False
    standing: Standing = field(default_factory=Standing)


class Place(NamedTuple):
    """A rank; the two differ if intervals do not separate an entry from its neighbours."""

    best: int
    worst: int


def of_row(row: RowScores, resampled: bool = True, without: Mapping[str, Collection[str]] | None = None) -> RankedRow:
    """The entry of a row, with intervals over runs and test examples, or over runs alone without predictions.

    :param resampled: whether to compute these intervals
    :param without: dataset -> ids of test examples to leave out of the scores
    """
    return of_values(row, intervals.of_row(row, intervals.RESAMPLES if resampled else 0, without))


def of_values(row: RowScores, values: Mapping[str, Value]) -> RankedRow:
    """The entry of a row whose numbers are known (`intervals.of_row`)."""
    ends = {name: value.interval for name, value in values.items() if value.interval is not None}
    return RankedRow(
        row.name,
        {name: value.mean for name, value in values.items()},
        ends,
        frozenset(row.run_counts),
        "; ".join(filter(None, (row.note, row.doubts))),
        row.capped,
        row.mark,
        row.published,
        row.suite == DEMO,
        groups.of_row(row),
    )


def select(rows: Sequence[RowScores], model: str = "*", protocol: str = "*", head: str = "*") -> list[RowScores]:
    """Rows whose model, protocol (with or without version) and at least one head match the patterns (`*` and `?`)."""

    def heads(row: RowScores) -> set[str]:
        return {run.settings.get("head", "") for one in row.datasets.values() for run in one.runs.values()}

    return [
        row
        for row in rows
        if fnmatch.fnmatch(row.model, model)
        and any(fnmatch.fnmatch(name, protocol) for name in _versions(row.configuration.protocol))
        and (head == "*" or any(fnmatch.fnmatch(name, head) for name in heads(row)))
    ]


def _versions(protocol: str) -> tuple[str, str]:
    return protocol, protocol.partition("@")[0]


class Ranked(NamedTuple):
    """An entry with its rank.

    :param part: the rows that it is ranked among, "" if these are the protocols of papers
    """

    place: Place | None
    entry: RankedRow
    part: str

    @property
    def rank(self) -> str:
        """As text: `2`, `2-4`, `probe 1`, or "" for an entry that is not ranked."""
        if self.place is None:
            return ""
        best, worst = self.place
        rank = f"{best}-{worst}" if best < worst else str(best)
        return f"{self.entry.mark} {rank}".lstrip()


def ranked(entries: Sequence[RankedRow], column: str) -> list[tuple[str, RankedRow]]:
    """Entries with their ranks as text."""
    return [(one.rank, one.entry) for one in in_parts(entries, column)]


def placed(entries: Sequence[RankedRow], column: str) -> list[tuple[Place | None, RankedRow]]:
    """Entries with their ranks; None for one that is not ranked."""
    return [(one.place, one.entry) for one in in_parts(entries, column)]


def in_parts(entries: Sequence[RankedRow], column: str) -> list[Ranked]:
    """Entries with their ranks, best first, one group of comparable rows after the other (`blurb.results.groups`).

    A row ranks behind another only if its interval ends below the other's. A number without an interval counts as
    exact, as its uncertainty is unknown.
    """
    there = [entry for entry in entries if column in entry.values]
    ranked: list[Ranked] = []
    for part in groups.parts([entry.standing for entry in there], column):
        ranked += [
            Ranked(place, entry, part.title) for place, entry in _places([there[i] for i in part.places], column)
        ]
        ranked += [Ranked(None, there[i], part.title) for i in part.unranked]
    return ranked + [Ranked(None, entry, entry.standing.title) for entry in entries if column not in entry.values]


def _places(entries: Sequence[RankedRow], column: str) -> list[tuple[Place, RankedRow]]:
    def bounds(entry: RankedRow) -> tuple[float, float]:
        return entry.intervals.get(column, (entry.values[column], entry.values[column]))

    there = sorted(entries, key=lambda entry: (-entry.values[column], by_number(entry.name)))
    lows, highs = (sorted(ends) for ends in zip(*map(bounds, there), strict=True)) if there else ([], [])
    places: list[tuple[Place, RankedRow]] = []
    for entry in there:
        low, high = bounds(entry)
        better, worse = len(lows) - bisect_right(lows, high), bisect_left(highs, low)
        places.append((Place(1 + better, len(there) - worse), entry))
    return places
