"""Ranks rows with intervals; ranks are ranges where the intervals overlap."""

from __future__ import annotations

import fnmatch
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from blurb.leaderboard import intervals
from blurb.leaderboard.intervals import Value
from blurb.names import by_number
from blurb.results import groups
from blurb.results.groups import Standing
from blurb.results.row import Row


@dataclass(frozen=True)
class RankedRow:
    """A row with its figures, and the rows among which it is ranked.

    :param values: dataset, task type, `score` and `blurb-12` -> figure on test (`intervals.of_row`)
    """

    row: Row
    values: Mapping[str, Value]
    standing: Standing

    @property
    def name(self) -> str:
        """Model, and configuration or source."""
        return self.row.name

    @property
    def note(self) -> str:
        """Remarks to read before comparing the row."""
        return "; ".join(filter(None, (self.standing.remark, self.row.note, self.row.doubts)))


class RankRange(NamedTuple):
    """A rank; the two differ if intervals do not separate an entry from its neighbours."""

    best: int
    worst: int


def of_row(row: Row, resampled: bool = True, without: Mapping[str, Collection[str]] | None = None) -> RankedRow:
    """The entry of a row, with intervals over runs and test examples, or over runs alone without predictions.

    :param resampled: whether to compute these intervals
    :param without: dataset -> ids of test examples to leave out of the scores
    """
    values = intervals.of_row(row, intervals.RESAMPLES if resampled else 0, without)
    return RankedRow(row, values, groups.of_row(row))


def select(rows: Sequence[Row], model: str = "*", protocol: str = "*", head: str = "*") -> list[Row]:
    """Rows whose model, protocol (with or without version) and at least one head match the patterns (`*` and `?`)."""

    def heads(row: Row) -> set[str]:
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

    place: RankRange | None
    entry: RankedRow
    part: str

    @property
    def rank(self) -> str:
        """As text: `2`, `2-4`, `probe 1`, or "" for an entry that is not ranked."""
        if self.place is None:
            return ""
        best, worst = self.place
        rank = f"{best}-{worst}" if best < worst else str(best)
        return f"{self.entry.standing.mark} {rank}".lstrip()


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


def _places(entries: Sequence[RankedRow], column: str) -> list[tuple[RankRange, RankedRow]]:
    def bounds(entry: RankedRow) -> tuple[float, float]:
        value = entry.values[column]
        return value.interval or (value.mean, value.mean)

    there = sorted(entries, key=lambda entry: (-entry.values[column].mean, by_number(entry.name)))
    lows, highs = (sorted(ends) for ends in zip(*map(bounds, there), strict=True)) if there else ([], [])
    places: list[tuple[RankRange, RankedRow]] = []
    for entry in there:
        low, high = bounds(entry)
        better, worse = len(lows) - bisect_right(lows, high), bisect_left(highs, low)
        places.append((RankRange(1 + better, len(there) - worse), entry))
    return places
