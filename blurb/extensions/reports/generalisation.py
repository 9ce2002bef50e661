"""What a row knows by heart: its figures on strings that train has, and on those that it has not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args

import numpy as np
from numpy.typing import NDArray

from blurb.api.comparing import open_corpora
from blurb.data.seen import CLASSES
from blurb.messages import ErrorCollector, SettingsError
from blurb.options import Argument, Option
from blurb.planning.options import OUTPUT, SUITE
from blurb.records import Count, RecordTable, record_columns
from blurb.results.row import Row
from blurb.results.schema import number, undo_neutral
from blurb.row_files.references import RowReference, rows_of
from blurb.row_files.seen import FEWEST, Measure, SeenScores, count_seen, no_figures
from blurb.statistics import bootstrap
from blurb.table_files import table_of
from blurb.tasks import SCORED, ScoredSplit, load_selection, load_suite, suite_of

RESAMPLES = 2_000
"""Of the intervals: their ends differ by 3 % of their width from those of five times as many."""


Figures = tuple[float | None, float | None, float | None]
"""A figure, times 100, and both ends of its 95 % interval over runs and examples; None where it is not known."""


@dataclass(frozen=True)
class SeenRecord:
    """The figures of a row on one class of strings of a dataset, times 100, with 95 % intervals.

    :param row: name of the row
    :param task: dataset
    :param strings: whether train has the strings: seen, unseen
    :param unit: what is counted: mentions, words (of PICO), pairs (of relations)
    :param gold: gold items of this class, as a mean over runs
    :param share: their share of all gold items
    :param other_type: gold items whose string train has with other types only
    :param runs: number of runs
    :param capped: whether training saw a part of train only, by max_train
    :param precision: null without predictions
    :param precision_low: lower end
    :param precision_high: upper end
    :param recall: null without gold items
    :param recall_low: lower end
    :param recall_high: upper end
    :param f1: null for words of PICO
    :param f1_low: lower end
    :param f1_high: upper end
    """

    row: str
    task: str
    strings: str
    unit: str
    gold: float
    share: float | None
    other_type: Count
    runs: Count
    capped: bool
    precision: float | None
    precision_low: float | None
    precision_high: float | None
    recall: float | None
    recall_low: float | None
    recall_high: float | None
    f1: float | None
    f1_low: float | None
    f1_high: float | None


@dataclass(frozen=True, repr=False)
class Generalisation(RecordTable):
    """The figures of rows on seen and unseen strings.

    :param reasons: dataset and why it has no such figures
    """

    record = SeenRecord
    lines: tuple[SeenRecord, ...]
    reasons: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        return f"<Generalisation: {len(self.lines) // len(CLASSES)} datasets>"


def generalisation(
    rows: Annotated[str | Sequence[RowReference], Argument(complete="rows_anywhere")],
    *,
    data: Annotated[Path | str | None, Option(help="Folder of the datasets.", path="dir")] = None,
    raw: Annotated[
        Path | str | None,
        Option(help="Folder of the original releases, for ChemProt and DDI.", path="dir"),
    ] = None,
    suite: Annotated[str | None, SUITE] = None,
    tasks: Annotated[
        str | Sequence[str] | None,
        Option(help="Datasets (names or types).  [default: all]", complete="tasks"),
    ] = None,
    split: Annotated[ScoredSplit, Option(help="Scored split.", choices=SCORED)] = "test",
    output: Annotated[Path | str, OUTPUT] = "runs",
) -> Generalisation:
    """The figures of rows on strings that train has, and on those that it has not (docs/what-was-learnt.md).

    :param rows: rows of `Results`, or references as of `blurb compare`; a folder of row files is one, too
    :param data: data folder, whose train split says what is seen; not needed for rows on synthetic data
    :param raw: folder of the original releases, which have the names of the entities of ChemProt and DDI
    :param suite: folder of the suite of the rows, if it is none that comes with blurb
    :param tasks: names or types; by default all datasets of the rows
    :raises SettingsError: if no dataset has such figures
    :raises StoreError: if a row was made on other data than the folder has
    """
    errors = ErrorCollector()
    named = suite or "blurb"
    with errors:
        load_suite(named)  # row files name its tasks
        meant = rows_of([rows] if isinstance(rows, str) else rows, output)
        named = suite or (suite_of(meant[0].suite).name if meant else named)
    with errors:
        chosen = None if tasks is None else {task.name for task in load_selection(tasks, named)}
    errors.stop()
    corpora = open_corpora(meant, data, raw, suite)
    lines: list[SeenRecord] = []
    reasons: dict[tuple[str, str], None] = {}
    for row in meant:
        for name in row.datasets:
            if chosen is not None and name not in chosen:
                continue
            try:
                lines += seen_lines(row, name, count_seen(row, name, split, corpora))
            except SettingsError as error:
                reasons[name, error.what] = None
    if not lines:
        raise no_figures(reasons)
    return Generalisation(tuple(lines), tuple(reasons))


def seen_lines(row: Row, name: str, counted: SeenScores) -> Iterator[SeenRecord]:
    """A line for each class."""
    whole = sum(counted.gold(place) for place in range(len(CLASSES)))
    sums = (
        bootstrap.resampled_sums(counted.clusters, bootstrap.generator(name), RESAMPLES)
        if counted.shared
        else None
    )
    for place, strings in enumerate(CLASSES):
        gold = counted.gold(place)
        # Of each run: the mean of runs would count one without predictions as a precision of 0.
        predicted = float(counted.clusters.counts[..., 3 * place + 1].sum(1).min())
        figures: list[float | None] = []
        for figure in get_args(Measure):
            is_known = {"precision": predicted > 0, "recall": gold > 0, "f1": gold + predicted > 0}
            if not is_known[figure] or (counted.strings.typed and figure != "recall"):
                figures += None, None, None
            else:
                fewest = min(gold, predicted) if figure == "precision" else gold
                figures += resampled_figures(
                    counted.of_figure(place, figure), name, None if fewest < FEWEST else sums
                )
        yield SeenRecord(
            row.name,
            name,
            strings,
            counted.strings.unit,
            gold,
            100 * gold / whole if whole else None,
            counted.other_type,
            counted.clusters.runs,
            counted.capped,
            *figures,
        )


def resampled_figures(
    units: bootstrap.Clusters, name: str, sums: NDArray[np.float64] | None
) -> Figures:
    """The score of runs, with its interval.

    :param sums: of `bootstrap.resampled_sums`; None for no interval
    """
    mean = float(units.scores.mean())
    if sums is None:
        return mean, None, None
    low, high = bootstrap.spread(units, name, sums=sums).interval
    return mean, max(low, 0.0), min(high, 100.0)


def show_interval(name: str, line: object) -> str:
    """A figure of a record, with its interval if it has one; "" without a figure."""
    value, low, high = (getattr(line, name + end, None) for end in ("", "_low", "_high"))
    if value is None:
        return ""
    return f"{value:.1f}" if low is None else f"{value:.1f} ({low:.1f} to {high:.1f})"


WORDS = ("row", "task", "strings", "unit", "capped")
"""The cells of a table that are no numbers."""
KNOWN = {"strings": CLASSES, "capped": ("false", "true")}


def read_generalisation(path: Path) -> list[SeenRecord]:
    """The lines of a table that `blurb generalisation --format csv` wrote.

    :raises DataError: (file, line) for another table, or a cell that is none of its own
    """
    columns = record_columns(SeenRecord)
    table = table_of(path, needed=columns, noun="table of blurb generalisation")
    lines = []
    for at, cells in table.rows:
        values: dict[str, Any] = {}
        for name in columns:
            cell = cells[name]
            if name in KNOWN and cell not in KNOWN[name]:
                raise at.error(
                    f"{name} must be one of {', '.join(KNOWN[name])} (got {cell[:20]!r})."
                )
            values[name] = (
                undo_neutral(cell) if name in WORDS else number(cell, name, at) if cell else None
            )
        lines.append(SeenRecord(**values | {"capped": values["capped"] == "true"}))
    return lines
