"""Off its own corpus: what models of one corpus find in the other corpora of the same entity.

Each entity type of a task may have a word that corpora share (`[entity]` of its file). Of a model with several types
those of the word alone count, after it decoded by its own scheme, and likewise of the gold answers. A corpus differs
from another one in its texts and in what its annotators call, say, a gene: a drop measures both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from blurb import formulations, learners, tasks as known
from blurb.api.predicting import KeptModel, load_model
from blurb.data.loading import path_of, read_split
from blurb.data.schema import Example
from blurb.extensions.reports.audit.duplicates import sentence_keys
from blurb.extensions.reports.errors.entities import pairs
from blurb.extensions.reports.generalisation import RESAMPLES, Figures, resampled_figures
from blurb.grouping import by_key
from blurb.inputs.tagging import Span, decode_spans
from blurb.learners.base import Subset
from blurb.learners.saved_models import is_kept
from blurb.messages import SettingsError, StoreError, opt
from blurb.options import Argument, Option
from blurb.planning.options import OUTPUT, SUITE
from blurb.planning.steps import find_folders
from blurb.protocols.settings import example_limits
from blurb.records import Count, RecordTable
from blurb.results.predictions import sum_clusters
from blurb.results.row import Row
from blurb.row_files.references import RowReference, rows_of
from blurb.row_files.seen import ClassFigure
from blurb.scoring import matching
from blurb.statistics import bootstrap
from blurb.statistics.welch import NORMAL, welch_test
from blurb.store.record import Record
from blurb.tasks import Task

EXACT, OVERLAPPING = ClassFigure(0, "f1"), ClassFigure(1, "f1")
"""F1 of exact spans and of spans that share a word, from three sums each."""


@dataclass(frozen=True)
class TransferRecord:
    """What the models of a row find in a corpus; figures are times 100, with 95 % intervals over runs and sentences.

    :param row: name of the row
    :param entity: word of the entity
    :param trained_on: dataset whose train split the models learnt from
    :param tested_on: dataset whose test split they predicted
    :param broader: whether the types of the tested set hold more than the entity
    :param runs: number of models
    :param sentences: tested sentences
    :param left_out: test sentences left out, as they stand in the other train split
    :param near_copies: tested ones of six words or more that do so but for blanks
    :param f1: of exact spans
    :param f1_low: lower end
    :param f1_high: upper end
    :param overlap_f1: of spans that share a word, each once
    :param overlap_low: lower end
    :param overlap_high: upper end
    :param drop: F1 of the models of the tested set minus that of these, on the same sentences; null without them
    :param drop_low: lower end, paired by sentence
    :param drop_high: upper end
    """

    row: str
    entity: str
    trained_on: str
    tested_on: str
    broader: bool
    runs: Count
    sentences: Count
    left_out: Count
    near_copies: Count
    f1: float | None
    f1_low: float | None
    f1_high: float | None
    overlap_f1: float | None
    overlap_low: float | None
    overlap_high: float | None
    drop: float | None
    drop_low: float | None
    drop_high: float | None


@dataclass(frozen=True, repr=False)
class Transfer(RecordTable):
    """What models find in other corpora, a line for each corpus that they learnt from and were tested on."""

    record = TransferRecord
    lines: tuple[TransferRecord, ...]

    def __repr__(self) -> str:
        return f"<Transfer: {len(self.lines)} pairs of datasets>"


def transfer(
    rows: Annotated[str | Sequence[RowReference], Argument(complete="rows_anywhere")],
    *,
    data: Annotated[Path | str | None, Option(help="Folder of the datasets.", path="dir")] = None,
    suite: Annotated[str | None, SUITE] = None,
    tasks: Annotated[
        str | Sequence[str] | None,
        Option(help="Datasets: names, types, or task files.  [default: all]", complete="tasks"),
    ] = None,
    device: Annotated[str, Option(help="Device: auto, cpu, cuda, cuda:N or mps.")] = "auto",
    output: Annotated[Path | str, OUTPUT] = "runs",
) -> Transfer:
    """What the models of rows find in the test sets of every other corpus of the same entity.

    :param rows: rows with kept models (`keep_model="best"`), or of a baseline that is one fit, which is made again
    :param data: data folder; not needed for rows on synthetic data
    :param suite: name or folder of a suite whose datasets are tested on, beside BLURB's and those of the rows' own
    :param tasks: names, types or task files, of which some must be given if a corpus of one's own is among them
    :raises SettingsError: for a row that has no model of a task with an entity
    :raises StoreError: if a model was made from other data than the folder has
    """
    known.load_suite(suite or "blurb")  # row files name its tasks
    meant = rows_of([rows] if isinstance(rows, str) else rows, output)
    for row in meant:
        known.suite_of(row.suite)
    words = ["all"] if tasks is None else tasks.split(",") if isinstance(tasks, str) else tasks
    names = {task.name for task in known.load_selection(words, None)}
    # A type is that of every suite which the rows or the option name, not of BLURB's alone.
    types = {*map(str.strip, words)}
    chosen = [each for each in known.all() if each.name in names or {"all", each.type} & types]
    lines: list[TransferRecord] = []
    # A model has a row in each suite, and one of its sets may be the home of another.
    by_model = by_key(
        (
            (
                row.model,
                row.weights,
                row.configuration.text,
                row.configuration.protocol_hash,
                row.configuration.precision,
            ),
            row,
        )
        for row in meant
    )
    for alike in by_model.values():
        folder, _ = find_folders(
            alike[0].suite, Path(data) if data else None, None, [], has_suite=False
        )
        lines += _ModelTransfer(alike, folder, device, chosen).lines()
    return Transfer(tuple(lines))


class _ModelTransfer:
    """The kept models of rows that differ in their suites alone, and the corpora, each read once."""

    def __init__(
        self, rows: Sequence[Row], folder: Path, device: str, chosen: Sequence[Task]
    ) -> None:
        row, self.folder, self.device = rows[0], folder, device
        self.name, self.weights = row.name, row.weights
        self.tasks = [task for task in chosen if task.entity]
        self.refits = (
            learners.is_named(row.weights) and learners.get_named(row.weights).deterministic
        )
        self.read: dict[tuple[str, str], list[Example]] = {}
        self.records = {
            task.name: runs
            for task in self.tasks
            for row in rows
            if (runs := self._usable(row, task.name))
        }
        if not self.records:
            raise SettingsError(
                f"{row.name} has no model of a task with an entity",
                fix=f"run it with {opt('keep-model', 'best')} on tasks such as ncbi-disease and bc5-disease.",
            )

    def _usable(self, row: Row, name: str) -> dict[int, Record]:
        """The runs with a kept model, or all of a baseline that is one fit."""
        kept = row.records_of(name).items()
        return {seed: record for seed, record in kept if self.refits or is_kept(record.path)}

    def examples(self, task: Task, split: known.Split) -> list[Example]:
        """The examples of a split."""
        if (task.name, split) not in self.read:
            self.read[task.name, split] = read_split(task, self.folder, split)
        return self.read[task.name, split]

    def lines(self) -> Iterator[TransferRecord]:
        """A line for each pair of corpora; models are loaded one after the other."""
        targets = [task for task in self.tasks if path_of(task, self.folder, "test").is_file()]
        answers: dict[tuple[str, str], list[Sequence[Sequence[str]]]] = {}
        for name, runs in self.records.items():
            task = known.get(name)
            others = (
                [] if task.broader else [other for other in targets if shared_words(task, other)]
            )
            for seed, record in runs.items():
                if matching.facts(task, self.folder).hash != record.trial.data:
                    raise StoreError(
                        f"{self.name}, seed {seed}, has other data of {task.name} than {self.folder}",
                        fix="give the folder of the data that it was made with.",
                    )
                stored = _stored_tags(record, self.examples(task, "test"))
                if stored:
                    answers.setdefault((name, name), []).append(stored)
                abroad = [other for other in others or [task] if other is not task or not stored]
                for other, tags in self._predictions(task, seed, record, abroad):
                    answers.setdefault((name, other.name), []).append(tags)
        for source, target in answers:
            task, other = known.get(source), known.get(target)
            for word in shared_words(task, other):
                if line := self._line(word, task, other, answers):
                    yield line

    def _predictions(
        self, task: Task, seed: int, record: Record, others: Sequence[Task]
    ) -> Iterator[tuple[Task, Sequence[Sequence[str]]]]:
        """What a model says of the test sets of other corpora."""
        if not others:
            return
        if self.refits:
            formulation = formulations.bind(task, record.trial.settings)
            fitted = learners.get_named(self.weights).load("learner")(formulation, "cpu", "fp32")
            train, dev = (
                Subset.draw(
                    self.examples(task, split),
                    "",
                    *example_limits(formulation.settings, split, seed),
                )
                for split in ("train", "dev")
            )
            fitted.fit(train, dev, seed, lambda done, total: None)
            model = KeptModel(fitted, {})
        else:
            model = load_model(record.path, self.device)
        for other in others:
            # Without the gold answers, whose types are its own.
            blank = [
                {**row, "tags": ["O"] * len(row["tags"])} for row in self.examples(other, "test")
            ]
            yield other, [each["prediction"] for each in model.of_examples(blank)]

    def _line(
        self, word: str, task: Task, other: Task, answers: Mapping[tuple[str, str], list[Any]]
    ) -> TransferRecord | None:
        """None if no test sentence is left: all stand in the other train split."""
        tested, near = self.examples(other, "test"), 0
        kept = list(range(len(tested)))
        if task is not other:
            train = self.examples(task, "train")
            learnt = {_lower(row) for row in train}
            kept = [place for place in kept if _lower(tested[place]) not in learnt]
            keys = sentence_keys(tested[place] for place in kept)
            near = sum(len(keys[key]) for key in keys.keys() & sentence_keys(train).keys())
        if not kept:
            return None
        units = _count_spans(word, task, other, tested, kept, answers[task.name, other.name])
        sums = bootstrap.resampled_sums(units, bootstrap.generator(other.name), RESAMPLES)
        drop: Figures = None, None, None
        if task is not other and (other.name, other.name) in answers:
            own = _count_spans(word, other, other, tested, kept, answers[other.name, other.name])
            drop = _drop(own, units, other.name)
        return TransferRecord(
            self.name,
            word,
            task.name,
            other.name,
            other.broader,
            units.runs,
            len(kept),
            len(tested) - len(kept),
            near,
            *resampled_figures(units, other.name, sums),
            *resampled_figures(replace(units, metric=OVERLAPPING), other.name, sums),
            *drop,
        )


def shared_words(task: Task, other: Task) -> list[str]:
    """The entity words of both tasks."""
    return sorted({*task.entity.values()} & {*other.entity.values()})


def _stored_tags(record: Record, rows: Sequence[Example]) -> list[Sequence[str]]:
    """The stored predictions of a test split; none of a trial that was scored on a part of it."""
    columns = record.predictions("test")
    by_id = dict(zip(columns["id"], columns["prediction"], strict=True))
    return [by_id[row["id"]] for row in rows] if len(by_id) == len(rows) else []


def _lower(row: Example) -> tuple[str, ...]:
    return tuple(word.lower() for word in row["tokens"])


def _spans_of_word(tags: Sequence[str], task: Task, word: str) -> list[Span]:
    # Most sentences have none, and each is looked at once a run and pair of sets.
    spans = decode_spans(tags) if {*tags} != {"O"} else []
    return [
        Span(span.start, span.end, word) for span in spans if task.entity.get(span.type) == word
    ]


def _count_spans(
    word: str,
    task: Task,
    other: Task,
    tested: Sequence[Example],
    kept: Sequence[int],
    answers: Sequence[Sequence[Sequence[str]]],
) -> bootstrap.Clusters:
    """Six sums of each sentence: found, predicted and gold spans, exact and overlapping."""
    rows = [tested[place] for place in kept]
    ids, documents = [str(row["id"]) for row in rows], [row.get("doc_id") for row in rows]
    runs = []
    for tags in answers:
        counts = np.zeros((len(kept), 6))
        for at, place in enumerate(kept):
            gold = _spans_of_word(tested[place]["tags"], other, word)
            given = _spans_of_word(tags[place], task, word)
            matched = [kind for kind, a, b in pairs(gold, given) if a is not None and b is not None]
            both = len(given), len(gold)
            counts[at] = matched.count("correct"), *both, len(matched), *both
        runs.append(sum_clusters(counts, ids, documents))
    _, names, documented = runs[-1]
    kind = "documents" if documented else "sentences"
    return bootstrap.Clusters(EXACT, np.stack([sums for sums, *_ in runs]), tuple(names), kind)


def _drop(own: bootstrap.Clusters, units: bootstrap.Clusters, name: str) -> Figures:
    """F1 of the models of the tested set minus that of the others, on the same sentences.

    Without several runs on either side the interval is over sentences alone.
    """
    variance = bootstrap.difference_variance(own, units, name, RESAMPLES)
    test = welch_test(own.scores.tolist(), units.scores.tolist(), variance, len(own.names))
    difference = float(own.scores.mean() - units.scores.mean())
    half = NORMAL * math.sqrt(variance)
    low, high = test.interval or (difference - half, difference + half)
    return difference, low, high
