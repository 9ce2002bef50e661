"""Collects the content of the page from the store, the given files, and the published rows.

Rows are compared in pairs, by the same function as `blurb compare`.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from blurb import tasks
from blurb.extensions.reports.generalisation import read_generalisation
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
    PairwiseComparison,
    PairwiseComparisons,
)
from blurb.extensions.reports.html.provenance import public, row_provenance
from blurb.grouping import by_key
from blurb.leaderboard import intervals, ranking
from blurb.leaderboard.intervals import Value
from blurb.messages import DataError, opt
from blurb.names import by_number
from blurb.planning.ablations import COLUMNS, SCHEMA
from blurb.results import comparability, comparison, groups, published
from blurb.results.row import Origin, Row, label_rows
from blurb.results.schema import undo_neutral
from blurb.results.score import DATASETS, SCORE, DatasetScores, type_weights
from blurb.store.record import Record
from blurb.system.files import open_ordinary
from blurb.table_files import table_of
from blurb.tasks import TWELVE

WITH_UNITS = 28
"""Maximum number of pairs (eight rows) for which test examples are resampled, which takes seconds per pair."""
MOST_ENCODERS = 20
"""Maximum number of rows to compare, as size and time grow with the square of the rows."""
MOST_PROBES = 8
"""The same for probes, whose test always needs the test examples."""


def comparisons(entries: Sequence[PageRow], tasks: Sequence[str]) -> PairwiseComparisons:
    """Compares all pairs of the first `MOST_ENCODERS` entries with runs.

    p-values are those of `blurb compare`: corrected over the datasets of a pair, not over the pairs.

    :param entries: entries in the order of the page, the best first
    """
    names = (*tasks, *(kind for kind, weights in type_weights().items() if len(weights) > 1), SCORE)
    with_runs = [
        place
        for place, entry in enumerate(entries)
        if any(one.runs for one in entry.row.datasets.values())
    ]
    most = MOST_PROBES if all(entry.row.kind.paired for entry in entries) else MOST_ENCODERS
    pairs = list(combinations(with_runs[:most], 2))
    with_units = len(pairs) <= WITH_UNITS
    compared_pairs = [
        _compare_pair(first, other, entries[first].row, entries[other].row, names, with_units)
        for first, other in pairs
    ]
    return PairwiseComparisons(names, with_units, compared_pairs, max(0, len(with_runs) - most))


def opening(found: PairwiseComparisons, entries: Sequence[PageRow], focus: int) -> tuple[int, int]:
    """The pair to show at first: the one with the most verdicts, of several the best rows.

    Two encoders under one protocol come first, then an encoder and a baseline, as a verdict on two protocols is about
    these and not about encoders. Where no pair can be judged, the highlighted row is shown beside the published row
    that shares the most datasets.
    """

    def worth(pair: PairwiseComparison) -> tuple[int, int]:
        first, other = entries[pair.first], entries[pair.other]
        alike = (
            first.row.comparable_with(other.row, comparability.Use.CHECK) is None
            and not first.row.kind.lower_bound
        )
        verdicts = sum(p is not None for _, p, _ in pair.lines)
        return 2 if alike else int(
            first.row.kind.lower_bound != other.row.kind.lower_bound
        ), verdicts

    if judged := [pair for pair in found.pairs if any(p is not None for _, p, _ in pair.lines)]:
        best = max(judged, key=worth)
        return best.first, best.other
    others = [place for place in range(len(entries)) if place != focus]
    published = [place for place in others if entries[place].kind == "published"]
    most_shared = max(
        published or others,
        key=lambda place: len(entries[place].datasets.keys() & entries[focus].datasets.keys()),
        default=focus,
    )
    return focus, most_shared


def _compare_pair(
    first: int, other: int, row: Row, against: Row, names: Sequence[str], with_units: bool
) -> PairwiseComparison:
    # Test units are resampled only where there can be a judgement: with one run a side there is none.
    with_units &= any(
        len(one.runs) > 1 for each in (row, against) for one in each.datasets.values()
    )
    lines = {line.name: line for line in comparison.compare_rows(row, against, "test", with_units)}
    intervals: list[tuple[float | None, float | None, str]] = []
    for name in names:
        line = lines.get(name)
        if line is None or line.difference is None:
            intervals.append((None, None, ""))
            continue
        ends = line.comparison.interval
        intervals.append((ends and (ends[1] - ends[0]) / 2, line.p, line.reason))
    remarks = [
        "; ".join(comparability.remarks(*sides)) for sides in ((row, against), (against, row))
    ]
    return PairwiseComparison(first, other, intervals, (remarks[0], remarks[1]))


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
    generalisation: Path | None = None,
) -> Page:
    """Reads everything to show; a row that is in both the store and a file is taken from the store.

    :param store: folder of the trials; may be missing
    :param results: files in the format of `results.csv`
    :param listed: a board, whose rows stand in the place of those of the store
    :param together: whether predictions from elsewhere are ranked with published rows
    :param ablations: folder with tables of `blurb ablate`, also in subfolders
    :param series: curves of checkpoints
    :param generalisation: table of `blurb generalisation`
    :raises DataError: if a file is invalid, or two files have different runs of one row
    """
    listings = listed.listings if listed else ()
    rows = {row.primary_key: row for row in ranking.read_rows(store, results, listed)}
    of_board = {each.scores.primary_key: each for each in listings}
    # Published numbers are of BLURB: beside rows of other suites alone they mean nothing.
    if with_published and not (rows and all(row.suite != "blurb" for row in rows.values())):
        rows |= {row.primary_key: row for row in published.shipped()}
    named = label_rows(list(rows.values()))
    entries = [
        entry_of(
            row, values, of_board.get(row.primary_key), ranking.standing(row, listed, together)
        )
        for row, values in zip(named, intervals.all_numbers(named, store), strict=True)
    ]
    boards = [
        board(
            suite,
            [entry for entry in entries if (entry.row.suite, entry.standing.mark) == (suite, mark)],
        )
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
    return Page(
        title,
        boards,
        withdrawn=listed.withdrawn() if listed else (),
        series=series.charts() if series else (),
        ablations=read_ablations(ablations) if ablations else (),
        seen=read_generalisation(generalisation) if generalisation else (),
    )


def board(suite: str, entries: Iterable[PageRow]) -> Leaderboard:
    """The rows of one suite, best first: by score, or without one by number of datasets and their mean."""
    ordered = sorted(entries, key=_rank)
    own = {task for entry in ordered for task in entry.datasets} - set(DATASETS)
    names = (*DATASETS, *sorted(own))
    kinds = {entry.row.kind for entry in ordered if entry.standing.mark}
    ranks = {
        column: {
            one.entry.name: one.place.text
            for one in ranking.in_parts(ordered, column)
            if one.place is not None
        }
        for column in (SCORE, TWELVE, *tasks.TYPES, *names)
    }
    return Leaderboard(
        suite,
        tasks.suite_title(suite),
        names,
        ordered,
        comparisons(ordered, names),
        kinds.pop() if kinds else None,
        ranks,
    )


def _rank(entry: PageRow) -> tuple[object, ...]:
    """One's own rows first, as the page is made for them, then the published ones, then baselines.

    On a board nothing stands above a row that was recomputed, be it a baseline.
    """
    means = [value.mean for value in entry.types.values()]
    first = entry.score or entry.values.get(TWELVE)
    verified = entry.kind == "board" and not entry.standing.claimed
    group = (
        3
        if entry.row.kind.lower_bound and not verified
        else 2
        if entry.kind == "published"
        else int(entry.standing.claimed)
    )
    return (
        group,
        entry.row.capped or entry.score is None,
        -(first.mean if first else 0.0),
        -len(means),
        -math.fsum(means),
        by_number(entry.label),
    )


def entry_of(
    row: Row,
    values: Mapping[str, Value] | None = None,
    listed: Listing | None = None,
    standing: groups.Standing | None = None,
) -> PageRow:
    """The entry of a row on the page.

    :param values: its numbers, if they are known (`intervals.numbers`)
    :param listed: its files and history, if it is of a board
    """
    values = intervals.numbers(row) if values is None else values
    return PageRow(
        row,
        values,
        standing or groups.standing(row),
        detail=public(row.detail),
        datasets={
            task: _dataset(row, one, values[task])
            for task, one in row.datasets.items()
            if task in values
        },
        provenance=row_provenance(row) if row.origin is Origin.STORE else None,
        listing=listed,
    )


def _dataset(row: Row, dataset: DatasetScores, test: Value) -> PageDataset:
    verdicts = {row.data} if row.data == "synthetic" else dataset.known("verdict")
    curves = {
        seed: curve
        for seed, record in row.records_of(dataset.task).items()
        if len(curve := _curve(record)) > 1
    }
    return PageDataset(test, dataset, ", ".join(sorted(verdicts)), curves)


def _curve(record: Record) -> Curve:
    """Score on dev after every epoch, times 100; empty without epochs."""
    try:
        with open(
            record.path / "history.csv", encoding="utf-8", newline="", opener=open_ordinary
        ) as file:
            values = [
                100 * float(line.get("dev") or "")
                for line in csv.DictReader(file)
                if "epoch" in line
            ]
    except (OSError, ValueError, csv.Error):  # a curve is an ornament: without it the row stands
        return ()
    return tuple(values) if all(map(math.isfinite, values)) else ()


def title_of(task: str) -> str:
    """The name of a dataset in the paper's tables; tasks that are not installed keep their own."""
    known = tasks.known_task(task)
    return task if known is None else known.title


def read_ablations(folder: Path) -> list[PageAblation]:
    """Reads the tables that `blurb ablate` wrote to a folder."""
    if not (paths := sorted(folder.rglob("*.csv"))):
        raise DataError(
            f"no CSV files here; {opt('ablations')} needs the {opt('out')} folder of blurb ablate.",
            folder,
        )
    ablations = []
    for path in paths:
        lines = []
        for at, cells in table_of(path, needed=COLUMNS, noun="table of blurb ablate").rows:
            if cells["schema"] != str(SCHEMA):
                raise at.error(
                    f"schema version {cells['schema'] or 'none'}; this version of blurb reads {SCHEMA}."
                )
            lines.append({column: undo_neutral(cell) for column, cell in cells.items()})
        if not lines:
            raise DataError("the table has no rows.", path)
        model = next((line["model"] for line in lines if line["model"]), "")
        names = tuple(dict.fromkeys(line["task"] for line in lines))
        by_cell = by_key((line["cell"], (line["task"], line)) for line in lines)
        grid = [(cell, dict(own)) for cell, own in by_cell.items()]
        ablations.append(PageAblation(lines[0]["axis"], model, names, grid))
    return ablations
