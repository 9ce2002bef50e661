"""Ranks rows with intervals; ranks are ranges where the intervals overlap."""

from __future__ import annotations

import fnmatch
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from blurb.leaderboard import intervals
from blurb.messages import DataError
from blurb.names import by_number
from blurb.results import from_store, groups, results_csv, tables
from blurb.results.row import Origin, Row, label_rows
from blurb.statistics import bootstrap
from blurb.store.store import Store

SURE = (1 + bootstrap.LEVEL) / 2
"""Share of joint resamples in which a row is below another that it ranks behind."""


@dataclass(frozen=True)
class RankedRow:
    """A row with its figures, and the rows among which it is ranked.

    :param values: dataset, task type, `score` and `blurb-12` -> figure on test (`intervals.numbers`)
    """

    row: Row
    values: Mapping[str, intervals.Value]
    standing: groups.Standing

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

    @property
    def text(self) -> str:
        """`2`, or `2-4`."""
        return "-".join(dict.fromkeys(map(str, self)))


def entry(
    row: Row, resampled: bool = True, without: Mapping[str, Collection[str]] | None = None
) -> RankedRow:
    """The entry of a row, with intervals over runs and test examples, or over runs alone without predictions.

    :param resampled: whether to compute these intervals
    :param without: dataset -> ids of test examples to leave out of the scores
    """
    return RankedRow(
        row,
        intervals.numbers(row, intervals.RESAMPLES if resampled else 0, without),
        groups.standing(row),
    )


def select(
    rows: Sequence[Row], model: str = "*", protocol: str = "*", head: str = "*"
) -> list[Row]:
    """Rows whose model, protocol (with or without version) and at least one head match the patterns (`*` and `?`)."""

    def heads(row: Row) -> set[str]:
        return {
            run.settings.get("head", "")
            for one in row.datasets.values()
            for run in one.runs.values()
        }

    return [
        row
        for row in rows
        if fnmatch.fnmatch(row.model, model)
        and any(
            fnmatch.fnmatch(name, protocol)
            for name in (row.configuration.protocol, row.configuration.protocol.partition("@")[0])
        )
        and (head == "*" or any(fnmatch.fnmatch(name, head) for name in heads(row)))
    ]


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
        return f"{self.entry.standing.mark} {self.place.text}".lstrip()


def in_parts(
    entries: Sequence[RankedRow], column: str, without: Mapping[str, Collection[str]] | None = None
) -> list[Ranked]:
    """Entries with their ranks, best first, one group of comparable rows after the other (`blurb.results.groups`).

    In a mean a row ranks behind another only if its interval ends below the other's; on a dataset only if it is below
    the other in 97.5 % of joint resamples (`intervals.joint_draws`). A number without an interval counts as exact, as
    its uncertainty is unknown.

    :param without: as of `entry`
    """
    task, *more = groups.datasets_of(column)
    present = [entry for entry in entries if column in entry.values]
    ranked: list[Ranked] = []
    for part in groups.parts([entry.standing for entry in present], column):
        rows = sorted(
            (present[i] for i in part.places),
            key=lambda entry: (-entry.values[column].mean, by_number(entry.name)),
        )
        ranks = _ranks_of(rows, column) if more else _joint_ranks(rows, column, task, without)
        ranked += [Ranked(rank, row, part.title) for rank, row in zip(ranks, rows, strict=True)]
        ranked += [Ranked(None, present[i], part.title) for i in part.unranked]
    return ranked + [
        Ranked(None, entry, entry.standing.title) for entry in entries if column not in entry.values
    ]


def _ranks_of(entries: Sequence[RankedRow], column: str) -> list[RankRange]:
    values = [entry.values[column] for entry in entries]
    bounds = [value.interval or (value.mean, value.mean) for value in values]
    lows, highs = (sorted(each[side] for each in bounds) for side in (0, 1))
    return [
        RankRange(1 + len(lows) - bisect_right(lows, high), len(highs) - bisect_left(highs, low))
        for low, high in bounds
    ]


def _joint_ranks(
    entries: Sequence[RankedRow],
    column: str,
    task: str,
    without: Mapping[str, Collection[str]] | None,
) -> list[RankRange]:
    values = [entry.values[column] for entry in entries]
    resamples = intervals.RESAMPLES if any(value.interval for value in values) else 1
    draws = np.array(
        [
            intervals.joint_draws(entry.row, task, value, resamples, without)
            for entry, value in zip(entries, values, strict=True)
        ]
    )
    return [
        RankRange(
            1 + int(((draws > own).mean(1) >= SURE).sum()),
            len(draws) - int(((draws < own).mean(1) >= SURE).sum()),
        )
        for own in draws
    ]


class Board(Protocol):
    """Rows that somebody keeps and verifies: the value of the option `--board`, which an extension brings."""

    folder: Path

    def rows(self) -> Sequence[Row]:
        """Its rows; DataError if they cannot be read, SettingsError if there is no board."""

    def is_claimed(self, row: Row) -> bool:
        """Whether nobody recomputed the figures of one of its rows."""

    def withdrawn(self) -> Sequence[str]:
        """The rows that were taken from it, a sentence each, earliest first."""


def read_rows(
    store: Path | None, results: Sequence[Path] = (), board: Board | None = None
) -> list[Row]:
    """The rows of a store or a board, and of tables; a row that is in both is taken from the store.

    :param store: folder of the trials; may be missing; None for tables alone
    :param results: files in the format of `results.csv`
    :param board: a board, whose rows stand in the place of those of the store
    :raises DataError: if a file is invalid, or two files have different runs of one row or contradict each other
    :raises SettingsError: if there is no board
    """
    if len(results) > 1:
        # The same refusals as of `leaderboard merge`, with both files and lines.
        tables.lines_of(results)
    listed = () if board is None else board.rows()
    own = [] if board or store is None or not store.is_dir() else from_store.read(Store(store))
    rows = {row.primary_key: row for row in own}
    for path in results:
        for row in results_csv.read(path):
            known = rows.get(row.primary_key)
            lacking = known and any(
                set(row.seeds(task)) - set(known.seeds(task)) for task in row.datasets
            )
            if known is None and row.means():
                rows[row.primary_key] = row
            elif known is not None and known.origin is Origin.RESULTS and lacking:
                raise DataError(
                    f"has runs of {row.name} that another of the files with that row does not have; merge the files "
                    "first, with blurb leaderboard merge.",
                    path,
                )
    return [*listed, *label_rows(list(rows.values()))]


def standing(row: Row, board: Board | None = None, together: bool = False) -> groups.Standing:
    """The standing of one of these rows; beside the rows of a board, those of a table are only claimed.

    :param together: whether rows whose kind allows it are ranked with published ones
    """
    return groups.standing(
        row,
        board is not None and (row.origin is not Origin.BOARD or board.is_claimed(row)),
        together,
    )
