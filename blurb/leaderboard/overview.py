"""Rows in a terminal: the means of each, best first; and the datasets, a line each, with the skill of every row.

Numbers are whole at 80 columns; names give way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from blurb import tasks
from blurb.grouping import by_key
from blurb.leaderboard import ranking
from blurb.leaderboard.ranking import Ranked, RankedRow
from blurb.leaderboard.terminal import SHORT
from blurb.results import published
from blurb.results.row import DEMO, Row
from blurb.results.score import DATASETS, SCORE, TYPE_OF, skill_percent
from blurb.terminal.output import Name, break_lines

MEANS = (SCORE, tasks.TWELVE, *tasks.TYPES)
PAPERS = "protocols of papers"
NOTHING = "without a figure in the column that is ranked"
ROOM = 15
"""Columns of a row in the table of datasets."""


def overview_table(
    ranks: Sequence[Ranked],
    sorted_by: str = SCORE,
    columns: Sequence[str] | None = None,
    bold: Sequence[RankedRow] = (),
) -> Table:
    """Rank, score with half of its 95 % interval, and the six means; columns without values are left out.

    A line with its name stands above each group of rows that is ranked by itself, except the protocols of papers.

    :param columns: these instead of score and means
    :param bold: rows to show in bold
    """
    wanted = columns or (*MEANS, *([] if sorted_by in MEANS else [sorted_by]))
    shown = [
        name
        for name in wanted
        if name == sorted_by or any(name in ranked.entry.values for ranked in ranks)
    ]
    table = _empty_table()
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("row", overflow="fold", min_width=12)
    for name in shown:
        table.add_column(SHORT.get(name, name), justify="right", no_wrap=True)
    parts = [_part_of_row(ranked, sorted_by) for ranked in ranks]
    part = parts[0] if len(set(parts)) == 1 else ""
    for ranked, its in zip(ranks, parts, strict=True):
        if its != part:
            table.add_section()
            table.add_row("", Text(f"{its or PAPERS}:", style="italic"))
            part = its
        row = ranked.entry
        cells = [
            _with_interval(row, name) if name == sorted_by else _number_cell(row, name)
            for name in shown
        ]
        style = (
            "bold" if any(row is ranked for ranked in bold) else "dim" if row.row.published else ""
        )
        table.add_row(_Figure(ranked.rank), Name(row.name), *map(_Figure, cells), style=style)
    return table


def own_first(ranks: Sequence[Ranked], by: str) -> list[Ranked]:
    """Moves groups of only published rows after the others; each group keeps its order."""
    own = {_part_of_row(ranked, by) for ranked in ranks if not ranked.entry.row.published}
    return sorted(
        ranks,
        key=lambda r: (
            _part_of_row(r, by) not in own
            or (_part_of_row(r, by) == NOTHING and r.entry.row.published)
        ),
    )


def _part_of_row(ranked: Ranked, column: str) -> str:
    return ranked.part if column in ranked.entry.values else NOTHING


def datasets(rows: Sequence[RankedRow], width: int) -> list[Table]:
    """One line per dataset with score and skill of each row; as many tables as the rows need at this width."""
    there = {name for row in rows for name in row.values}
    names = [name for name in (*DATASETS, *sorted(there - {*DATASETS, *MEANS})) if name in there]
    room = max(1, (width - ROOM) // ROOM)
    return [
        _dataset_table(names, rows[start : start + room]) for start in range(0, len(rows), room)
    ]


def without_means(row: RankedRow) -> bool:
    """Whether the overview has no figure of a row, as no task type is whole."""
    return not any(name in row.values for name in MEANS)


def beside_means(row: RankedRow) -> list[str]:
    """Its datasets that are in no mean of the overview: a user's own, or of a task type that is not whole."""
    means = {name for name, kind in TYPE_OF.items() if kind in row.values}
    return [name for name in row.values if name not in (*MEANS, *means)]


def _dataset_table(names: Sequence[str], rows: Sequence[RankedRow]) -> Table:
    table = _empty_table()
    table.add_column("dataset", no_wrap=True)
    for row in rows:
        table.add_column(
            Text("\n".join(break_lines(row.name, ROOM))),
            justify="right",
            overflow="fold",
            max_width=ROOM,
        )
    titles = {task.name: task.title for task in tasks.all()}
    for name in names:
        table.add_row(titles.get(name, name), *(_with_skill(row, name) for row in rows))
    return table


class _Figure:
    """Digits at the right of a cell; as `Text`, a thousand rows would take twice the time."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        fits = len(self.text) <= options.max_width
        yield Segment(self.text.rjust(options.max_width)) if fits else Text(self.text, no_wrap=True)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(len(self.text), len(self.text))


def has_skill(row: RankedRow) -> bool:
    """Whether the table of datasets has per cent beside a score of the row."""
    return any(_mean_skill(row, name) is not None for name in row.values)


def _mean_skill(row: RankedRow, name: str) -> float | None:
    known = name in row.values and row.row.suite != DEMO and not row.row.capped
    return skill_percent(name, row.values[name].mean) if known else None


def _with_skill(row: RankedRow, name: str) -> str:
    """`76.31   88 %`, `0.00  < 0 %`: how far below the best simple baseline says nothing."""
    part = _mean_skill(row, name)
    return _number_cell(row, name) + (
        "" if part is None else f"{'< 0' if round(part) < 0 else round(part):>5} %"
    )


def _with_interval(row: RankedRow, name: str) -> str:
    """`76.31 ±1.2`."""
    ends = row.values[name].interval if name in row.values else None
    return _number_cell(row, name) + (f" ±{(ends[1] - ends[0]) / 2:.1f}" if ends else "")


def _number_cell(row: RankedRow, name: str) -> str:
    return f"{row.values[name].mean:.2f}" if name in row.values else ""


def _empty_table() -> Table:
    return Table(
        box=SIMPLE_HEAD, header_style="bold", padding=0, pad_edge=False, collapse_padding=True
    )


NEXT = 2
"""Rows shown above and below each of the given ones."""
NAME = 26
"""Characters that ranks and names should have on a narrow terminal."""


def with_neighbours(rows: Sequence[Row], others: Iterable[Row] = (), width: int = 120) -> Table:
    """The given rows among those of the store and the published ones.

    The columns are the means that a given row has, and, as far as they fit, datasets that are in none of them: first
    a user's own tasks, then those of types that are not whole.

    :param others: rows of the same store; rows made otherwise are left out, as they are ranked apart
    :param width: of the terminal
    """
    own_rows = [ranking.entry(row, resampled=False) for row in rows]
    columns = _columns_that_fit(own_rows, width)
    whole = (name for name in columns if all(name in row.values for row in own_rows))
    by = next(whole, columns[0] if columns else SCORE)
    suites = {row.suite for row in rows}
    beside = [row for row in others if row.suite in suites]
    if any(not (row.row.suite == DEMO or row.standing.mark) for row in own_rows):
        beside += published.shipped()
    theirs = [ranking.entry(row, resampled=False) for row in beside]
    keys = {row.standing.key for row in own_rows}
    entries = [*own_rows, *(row for row in theirs if row.standing.key in keys)]
    return overview_table(
        _rows_near(ranking.in_parts(entries, by), own_rows), by, columns, bold=own_rows
    )


def _columns_that_fit(rows: Sequence[RankedRow], width: int) -> list[str]:
    """The datasets and means shown, the most general first."""
    present = {name for row in rows for name in row.values}
    means = [name for name in MEANS if name in present]
    own = sorted(present - {*DATASETS, *MEANS})
    loose = [
        name
        for name in (*own, *DATASETS)
        if name in present and (name in own or TYPE_OF[name] not in means)
    ]
    room = width - NAME - sum(map(_column_width, means))
    chosen: list[str] = []
    for name in loose:
        room -= _column_width(name)
        if room >= 0 or not (means or chosen):
            chosen.append(name)
    return [*means, *chosen]


def _column_width(name: str) -> int:
    return max(len(SHORT.get(name, name)), len("100.00")) + 1


def _rows_near(ranks: Sequence[Ranked], mine: Sequence[RankedRow]) -> list[Ranked]:
    """The rows of `mine`, their neighbours in their part, and its best row."""
    own = {id(row) for row in mine}
    parts = by_key((ranked.part, ranked) for ranked in ranks)
    rows = []
    for part in parts.values():
        places = [at for at, ranked in enumerate(part) if ranked.rank and id(ranked.entry) in own]
        shown = {near for at in places for near in range(at - NEXT, at + NEXT + 1)} | (
            {0} if places else set()
        )
        rows += [
            ranked
            for at, ranked in enumerate(part)
            if id(ranked.entry) in own or (ranked.rank and at in shown)
        ]
    return rows
