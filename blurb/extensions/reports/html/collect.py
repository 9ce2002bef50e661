"""Collects the content of the page from the store, the given files, and the published rows."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from blurb import tasks
from blurb.extensions.reports.html.model import (
    Curve,
    Curves,
    Leaderboard,
    ListedBoard,
    Listing,
    Page,
    PageAblation,
    PageDataset,
    PageRow,
)
from blurb.extensions.reports.html.pairwise import comparisons
from blurb.extensions.reports.html.provenance import of_row, public
from blurb.leaderboard import intervals, kept_intervals, sources
from blurb.leaderboard.intervals import Value
from blurb.messages.errors import DataError
from blurb.messages.spelling import opt
from blurb.names import by_number
from blurb.planning import ablations
from blurb.results import groups, published
from blurb.results.dataset_scores import DATASETS, DatasetScores
from blurb.results.groups import Standing
from blurb.results.row import DEMO, Origin, Row, labelled
from blurb.results.schema import original
from blurb.store.record import Record
from blurb.system.files import ordinary
from blurb.table_files import table_of
from blurb.tasks import TWELVE

TITLE = "BLURB leaderboard"


def collect(
    store: Path,
    results: Sequence[Path] = (),
    ablations: Path | None = None,
    title: str = TITLE,
    with_published: bool = True,
    listed: ListedBoard | None = None,
    together: bool = False,
    series: Curves | None = None,
) -> Page:
    """Reads everything to show; a row that is in both the store and a file is taken from the store.

    :param store: folder of the trials; may be missing
    :param results: files in the format of `results.csv`
    :param listed: a board, whose rows stand in the place of those of the store
    :param together: whether predictions from elsewhere are ranked with published rows
    :param ablations: folder with tables of `blurb ablate`, also in subfolders
    :param series: curves of checkpoints
    :raises DataError: if a file is invalid, or two files have different runs of one row
    """
    found = sources.read(store, results, listed)
    listings = () if listed is None else listed.listings
    rows = {row.primary_key: row for row in found}
    of_board = {each.scores.primary_key: each for each in listings}
    # Published numbers are of the real data: beside synthetic rows alone they mean nothing.
    if with_published and not (rows and all(row.suite == DEMO for row in rows.values())):
        rows |= {row.primary_key: row for row in published.shipped()}
    named = labelled(list(rows.values()))
    entries = [
        entry_of(row, values, of_board.get(row.primary_key), sources.standing(row, listed, together))
        for row, values in zip(named, kept_intervals.of_rows(named, store), strict=True)
    ]
    boards = [
        board(suite, [entry for entry in entries if (entry.row.suite, entry.standing.mark) == (suite, mark)])
        for suite, mark in sorted({(entry.row.suite, entry.standing.mark) for entry in entries})
    ]
    # One's own rows, those of files and of a board come before those that are published.
    boards.sort(
        key=lambda part: (
            part.suite,
            all(entry.kind == "published" for entry in part.entries),
            bool(listings) and not any(entry.listing for entry in part.entries),
        )
    )
    withdrawn = () if listed is None else listed.withdrawn()
    curves = () if series is None else series.charts()
    return Page(title, boards, read_ablations(ablations) if ablations else [], withdrawn, curves)


def board(suite: str, entries: Iterable[PageRow]) -> Leaderboard:
    """The rows of one suite, best first: by score, or without one by number of datasets and their mean."""
    ordered = sorted(entries, key=_rank)
    present = {task for entry in ordered for task in entry.datasets}
    names = (*DATASETS, *sorted(present - set(DATASETS)))
    kinds = {entry.row.kind for entry in ordered if entry.standing.mark}
    return Leaderboard(suite, names, ordered, comparisons(ordered, names), kinds.pop() if kinds else None)


def _rank(entry: PageRow) -> tuple[object, ...]:
    """One's own rows first, as the page is made for them, then the published ones, then baselines.

    On a board nothing stands above a row that was recomputed, be it a baseline.
    """
    means = [value.mean for value in entry.types.values()]
    first = entry.score or entry.values.get(TWELVE)
    verified = entry.kind == "board" and not entry.standing.claimed
    group = 3 if entry.baseline and not verified else 2 if entry.kind == "published" else int(entry.standing.claimed)
    return (
        group,
        entry.row.capped or entry.score is None,
        -(first.mean if first else 0.0),
        -len(means),
        -math.fsum(means),
        by_number(entry.label),
    )


def entry_of(
    row: Row, values: Mapping[str, Value] | None = None, listed: Listing | None = None, standing: Standing | None = None
) -> PageRow:
    """The entry of a row on the page.

    :param values: its numbers, if they are known (`intervals.of_row`)
    :param listed: its files and history, if it is of a board
    """
    values = intervals.of_row(row) if values is None else values
    return PageRow(
        row,
        values,
        standing or groups.of_row(row),
        detail=public(row.detail),
        datasets={task: _dataset(row, one, values[task]) for task, one in row.datasets.items() if task in values},
        provenance=of_row(row) if row.origin is Origin.STORE else None,
        listing=listed,
    )


def _dataset(row: Row, dataset: DatasetScores, test: Value) -> PageDataset:
    curves = {seed: _curve(record) for seed, record in row.records_of(dataset.task).items()}
    return PageDataset(
        test=test,
        seeds=dataset.scores(),
        planned=dataset.planned,
        dev=dataset.mean("dev"),
        majority=dataset.majority(),
        metric=dataset.metric,
        data="synthetic" if row.data == "synthetic" else ", ".join(sorted(dataset.known("verdict"))),
        curves={seed: curve for seed, curve in curves.items() if len(curve) > 1},
    )


def _curve(record: Record) -> Curve:
    """Score on dev after every epoch, times 100; empty without epochs."""
    try:
        with open(record.path / "history.csv", encoding="utf-8", newline="", opener=ordinary) as file:
            cells = [line.get("dev") or "" for line in csv.DictReader(file) if "epoch" in line]
        values = [100 * float(cell) for cell in cells]
    except (OSError, ValueError, csv.Error):  # a curve is an ornament: without it the row stands
        return ()
    return tuple(values) if all(map(math.isfinite, values)) else ()


def title_of(task: str) -> str:
    """The name of a dataset in the paper's tables; tasks that are not installed keep their own."""
    known = tasks.known(task)
    return task if known is None else known.title


Line = dict[str, str]


def read_ablations(folder: Path) -> list[PageAblation]:
    """Reads the tables that `blurb ablate` wrote to a folder."""
    if not (paths := sorted(folder.rglob("*.csv"))):
        raise DataError(f"no CSV files here; {opt('ablations')} needs the {opt('out')} folder of blurb ablate.", folder)
    ablations = []
    for path in paths:
        lines = _cells(path)
        by_cell: dict[str, dict[str, Line]] = {}
        for line in lines:
            by_cell.setdefault(line["cell"], {})[line["task"]] = line
        model = next((line["model"] for line in lines if line["model"]), "")
        names = tuple(dict.fromkeys(line["task"] for line in lines))
        ablations.append(PageAblation(lines[0]["axis"], model, names, tuple(by_cell.items())))
    return ablations


def _cells(path: Path) -> list[Line]:
    """The lines of an ablation table."""
    lines = table_of(path, needed=ablations.COLUMNS, noun="table of blurb ablate").rows
    if not lines:
        raise DataError("the table has no rows.", path)
    for at, line in lines:
        if line["schema"] != str(ablations.SCHEMA):
            what = f"schema version {line['schema'] or 'none'}; this version of blurb reads {ablations.SCHEMA}."
            raise at.error(what)
    return [{column: original(cell) for column, cell in line.items()} for _, line in lines]
