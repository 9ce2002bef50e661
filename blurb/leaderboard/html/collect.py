"""Everything on the page from the store, the files that were named, and the published rows."""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from blurb import tasks
from blurb.leaderboard.html import files, intervals
from blurb.leaderboard.html.model import Board, Curve, Dataset, Entry, Page
from blurb.leaderboard.html.pairwise import duels
from blurb.leaderboard.html.provenance import made, public
from blurb.results import published
from blurb.results.rows import DEMO, Result, gather
from blurb.results.sides import of_result
from blurb.results.tables import KEY, NAMES, READ, asked, model
from blurb.runs.store import Record, Store

TITLE = "BLURB leaderboard"


def collect(
    store: Path, results: Sequence[Path] = (), ablations: Path | None = None, title: str = TITLE,
    with_published: bool = True,
) -> Page:  # fmt: skip
    """Reads what is to be shown; a row that is in the store and in a file is shown once, from the store.

    :param store: folder of the trials; may be missing
    :param results: files as `results.csv`
    :param ablations: folder with tables that `blurb ablate` wrote, also in folders below
    :raises DataError: if a file is not what it should be
    """
    entries = {entry.key: entry for entry in map(_entry, gather(Store(store)) if store.is_dir() else [])}
    for path in results:
        for entry in files.results(path):
            if not any(_same(entry.key, key) for key in entries):
                entries[entry.key] = entry
    # Published numbers are of the real data: beside synthetic rows alone they mean nothing.
    if with_published and not (entries and all(entry.suite == DEMO for entry in entries.values())):
        for row in published.shipped():
            entry = files.published(row)
            entries[entry.key] = entry
    kinds = sorted({(entry.suite, entry.probe) for entry in entries.values()})
    boards = [
        board(suite, [entry for entry in entries.values() if (entry.suite, entry.probe) == (suite, probe)])
        for suite, probe in kinds
    ]
    return Page(title, boards, files.ablations(ablations) if ablations else [])


def board(suite: str, entries: Iterable[Entry]) -> Board:
    """The rows of one suite, best first: by score, else by how much of the benchmark is there and how good it is."""
    ordered = sorted(_told_apart(list(entries)), key=_rank)
    present = {task for entry in ordered for task in entry.datasets}
    names = (*NAMES, *sorted(present - set(NAMES)))
    return Board(suite, names, ordered, duels(ordered, names), all(entry.probe for entry in ordered))


def _same(key: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two keys are of one row; a table of an earlier schema knows neither tokenizer nor recipe."""
    return len(key) == len(other) and all(
        one == two or (column in READ["3"] and not (one and two))
        for column, one, two in zip(KEY, key, other, strict=True)
    )


def _told_apart(entries: Sequence[Entry]) -> list[Entry]:
    """Entries of one name and setting differ in weights, protocol's hash, tokenizer or recipe, and then say so."""
    for column in ("weights", "protocol_hash", "tokenizer", "recipe"):
        place = KEY.index(column)
        labels = [entry.label for entry in entries]
        entries = [
            replace(entry, detail=f"{entry.detail} {entry.key[place][:8]}".strip())
            if entry.kind != "published" and entry.key[place] and labels.count(label) > 1
            else entry
            for entry, label in zip(entries, labels, strict=True)
        ]
    return list(entries)


def _rank(entry: Entry) -> tuple[bool, float, int, float, str]:
    means = [value.mean for value in entry.types.values()]
    score = entry.score.mean if entry.score else 0.0
    return entry.capped or entry.score is None, -score, -len(means), -math.fsum(means), entry.label


def _entry(row: Result) -> Entry:
    known = intervals.of_result(row)
    types, score = intervals.averages({task: one for task, one in known.items() if task in NAMES})
    detail = " ".join(part for part in (row.configuration.text, row.configuration.precision) if part)
    side = replace(of_result(row, "test"), means={task: one.value.mean for task, one in known.items()})
    return Entry(
        kind="store",
        model=row.model,
        detail=public(detail),
        suite=row.configuration.suite,
        key=(row.configuration.suite, *model(row).values(), *asked(row).values()),
        datasets={
            task: _dataset(row, task, known[task], dict(sorted(side.scores[task].items()))) for task in row.records
        },
        types=types,
        score=score,
        side=side,
        runs=files.counted([len(seeds) for seeds in row.records.values()]),
        complete=row.complete,
        notes=[note for note in (row.note, _doubts(row)) if note],
        capped=row.capped,
        made=made(row),
    )


def _doubts(row: Result) -> str:
    return "" if row.data in ("verified", "synthetic") else f"data not verified: {row.data}"


def _dataset(row: Result, task: str, known: intervals.Known, scores: dict[int, float]) -> Dataset:
    records = row.records[task]
    first = next(iter(records.values()))
    curves = {seed: _curve(record) for seed, record in sorted(records.items())}
    return Dataset(
        test=known.value,
        seeds=scores,
        planned=len(row.planned.get(task, ())),
        dev=statistics.fmean(row.values(task, "dev")),
        majority=statistics.fmean(row.values(task, baseline=True)),
        metric=str(first.metrics["metric"]),
        data="synthetic" if row.data == "synthetic" else str(first.provenance.get("data_verdict", "")),
        curves={seed: curve for seed, curve in curves.items() if len(curve) > 1},
    )


def _curve(record: Record) -> Curve:
    """Score on dev after every epoch, times 100; empty where there were none."""
    try:
        with (record.path / "history.csv").open(encoding="utf-8", newline="") as file:
            cells = [line.get("dev") or "" for line in csv.DictReader(file) if "epoch" in line]
        values = [100 * float(cell) for cell in cells]
    except (OSError, ValueError, csv.Error):  # a curve is an ornament: without it the row stands
        return ()
    return tuple(values) if all(map(math.isfinite, values)) else ()


def title_of(task: str) -> str:
    """The name of a dataset in the paper's tables; a task that is not installed here keeps its own."""
    known = {one.name: one.title for one in tasks.all()}
    return known.get(task, task)
