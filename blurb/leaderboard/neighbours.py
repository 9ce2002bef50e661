"""Where rows stand: they, the rows next to them, and the best, as `blurb run` shows them at its end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table

from blurb import tasks
from blurb.leaderboard import overview, ranking
from blurb.leaderboard.ranking import Ranked, RankedRow
from blurb.results import published
from blurb.results.dataset_scores import DATASETS
from blurb.results.row_scores import RowScores
from blurb.results.score import SCORE

NEXT = 2
"""Rows shown above and below each of the given ones."""
NAME = 26
"""Characters that ranks and names should have on a narrow terminal."""


def with_neighbours(rows: Sequence[RowScores], others: Iterable[RowScores] = (), width: int = 120) -> Table:
    """The given rows among those of the store and the published ones.

    The columns are the means that a given row has, and, as far as they fit, datasets that are in none of them: first
    the tasks of one's own, then those of types that are not whole.

    :param others: rows of the same store; those that were made otherwise are left out, as they are ranked apart
    :param width: of the terminal
    """
    mine = [ranking.of_row(row, resampled=False) for row in rows]
    columns = _columns(mine, width)
    whole = (name for name in columns if all(name in row.values for row in mine))
    by = next(whole, columns[0] if columns else SCORE)
    suites = {row.suite for row in rows}
    beside = [row for row in others if row.suite in suites]
    if any(not row.synthetic and not row.mark for row in mine):
        beside += published.shipped()
    theirs = [ranking.of_row(row, resampled=False) for row in beside]
    keys = {row.standing.key for row in mine}
    entries = [*mine, *(row for row in theirs if row.standing.key in keys)]
    return overview.overview(_near(ranking.in_parts(entries, by), mine), by, columns, bold=mine)


def _columns(rows: Sequence[RankedRow], width: int) -> list[str]:
    """What is shown of them, the most general first."""
    there = {name for row in rows for name in row.values}
    means = [name for name in overview.MEANS if name in there]
    types = {task.name: task.type for task in tasks.all()}
    own = sorted(there - {*DATASETS, *overview.MEANS})
    loose = [name for name in (*own, *DATASETS) if name in there and (name in own or types[name] not in means)]
    room = width - NAME - sum(map(_width, means))
    chosen: list[str] = []
    for name in loose:
        room -= _width(name)
        if room >= 0 or not (means or chosen):
            chosen.append(name)
    return [*means, *chosen]


def _width(name: str) -> int:
    return max(len(overview.heading(name)), len("100.00")) + 1


def _near(ranks: Sequence[Ranked], mine: Sequence[RankedRow]) -> list[Ranked]:
    """Those of `mine`, the rows next to them in their part, and its best one."""
    own = {id(row) for row in mine}
    parts: dict[str, list[Ranked]] = {}
    for ranked in ranks:
        parts.setdefault(ranked.part, []).append(ranked)
    shown_rows = []
    for part in parts.values():
        places = [place for place, ranked in enumerate(part) if ranked.rank and id(ranked.entry) in own]
        shown = {near for place in places for near in range(place - NEXT, place + NEXT + 1)} | (
            {0} if places else set()
        )
        shown_rows += [
            ranked for place, ranked in enumerate(part) if id(ranked.entry) in own or (ranked.rank and place in shown)
        ]
    return shown_rows
