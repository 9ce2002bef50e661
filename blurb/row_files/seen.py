"""Seen and unseen answers of rows on a dataset, counted by whether train has their strings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blurb import tasks
from blurb.corpora.original_readers import load_original
from blurb.corpora.releases import MissingRelease
from blurb.data.loading import hash_and_verdict, read_split
from blurb.data.schema import Example
from blurb.data.seen import CLASSES, SeenStrings
from blurb.inputs.relations import dummify_entities
from blurb.messages import SettingsError, StoreError, group_reasons, opt
from blurb.registry import load_object
from blurb.results.predictions import sum_clusters
from blurb.results.row import Row
from blurb.results.score import Figure
from blurb.scoring import matching
from blurb.statistics.bootstrap import Clusters
from blurb.tasks import ScoredSplit, Task

Measure = Literal["precision", "recall", "f1"]
FEWEST = 20
"""Minimum gold items of a class for figures with an interval."""
UNSEEN = CLASSES.index("unseen")


class Corpus(NamedTuple):
    """The strings of a dataset's answers.

    :param hashes: data hashes of the trials that may be counted by it
    :param examples: those of the scored split, by id
    """

    strings: SeenStrings
    examples: Mapping[str, Example]
    hashes: frozenset[str]


class Corpora:
    """The datasets of a data folder and of the original releases, each read once for several rows.

    :param raw: folder of the original releases, which have the names of the entities of a relation
    """

    def __init__(self, data: Path, raw: Path | None) -> None:
        self.data, self.raw = data, raw
        self._read: dict[tuple[str, str], Corpus] = {}

    def read(self, task: Task, split: ScoredSplit) -> Corpus:
        """The strings of train and the examples of a split.

        :raises SettingsError: if the answers of the task have no strings, or the folder for them is not given
        :raises DataError: (file, line) for files that cannot be read
        """
        if (task.name, split) not in self._read:
            self._read[task.name, split] = self._read_corpus(tasks.to_read(task), split)
        return self._read[task.name, split]

    def _read_corpus(self, task: Task, split: ScoredSplit) -> Corpus:
        if not task.task_type.seen or (task.dummified and not task.original):
            raise SettingsError(
                "its answers are no strings that train could have.", where=task.name
            )
        if task.dummified:
            if self.raw is None:
                raise SettingsError(
                    f"has dummies in place of its entities; {opt('raw', 'RAW')} gives their names.",
                    where=task.name,
                )
            try:
                original = load_original(task, self.raw)
            except MissingRelease as error:
                raise SettingsError(str(error), where=task.name) from error
            rows = {name: list(each) for name, each in original.splits.items()}
            dummies = {name: [dummify_entities(row) for row in each] for name, each in rows.items()}
            hashes = frozenset({original.hash, hash_and_verdict(task, dummies)[0]})
        else:
            facts = matching.facts(task, self.data)
            if facts.missing:
                raise SettingsError(
                    f"has no {' and no '.join(facts.missing)} split here.", where=task.name
                )
            rows = {name: read_split(task, self.data, name) for name in ("train", split)}
            hashes = frozenset({facts.hash})
        make: type[SeenStrings] = load_object(task.task_type.seen, f"strings of {task.type}")
        examples = {str(row["id"]): row for row in rows[split]}
        return Corpus(make(task, rows["train"]), examples, hashes)


@dataclass(frozen=True)
class ClassFigure:
    """A figure of a class as a function of sums of right, predicted and gold items (`bootstrap.SummedMetric`)."""

    place: int
    """Of the class in `CLASSES`."""
    figure: Measure
    correlation = False

    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums (..., classes * 3) to fractions (...); 0 where nothing is counted."""
        right, predicted, gold = np.moveaxis(sums[..., 3 * self.place :][..., :3], -1, 0)
        whole = {"precision": predicted, "recall": gold, "f1": (predicted + gold) / 2}[self.figure]
        return np.asarray(np.divide(right, whole, out=np.zeros_like(right), where=whole > 0))

    def aligned(
        self, first: NDArray[np.float64], second: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The counts of the second run: any may be exchanged with those of the first."""
        return second


@dataclass(frozen=True)
class SeenScores:
    """The answers of a row on a dataset, counted by whether train has their strings.

    :param clusters: by document or example, six summands each; one a run where each run has examples of its own
    :param shared: whether all runs have the same examples, without which there is no interval
    :param other_type: gold items whose string train has with other types only, in the last run
    :param capped: whether training saw a part of train only
    """

    strings: SeenStrings
    seeds: tuple[int, ...]
    clusters: Clusters
    shared: bool
    other_type: int
    capped: bool = False

    def gold(self, place: int) -> float:
        """Gold items of a class, as a mean over runs."""
        return float(self.clusters.counts[..., 3 * place + 2].sum(1).mean())

    def of_figure(self, place: int, figure: Measure) -> Clusters:
        """The same examples with a figure of a class as their score."""
        return replace(self.clusters, metric=ClassFigure(place, figure))


def count_seen(row: Row, name: str, split: ScoredSplit, corpora: Corpora) -> SeenScores:
    """Counts the answers of a row on a dataset by whether train has their strings.

    :raises SettingsError: if the dataset has no such figures, or the row no predictions on it
    :raises StoreError: if the row was made on other data than the folder has, whose train split is another, too
    """
    if not row.has_answers(name):
        raise SettingsError("has no predictions.", where=name)
    declared = [record.task for record in row.records_of(name).values()]
    task = declared[0] if declared else tasks.get(name)
    strings, examples, hashes = corpora.read(task, split)
    rows = None if task.dummified else list(examples.values())
    answers = row.answers(name, split, corpora.data, rows)
    if not answers:
        raise SettingsError(f"has no predictions on {split}.", where=name)
    sums, names, documented, others = [], list[str](), False, 0
    for seed, (data, columns) in answers.items():
        units = [examples[key] for key in columns["id"] if key in examples]
        if data not in hashes or len(units) < len(columns["id"]):
            folder = corpora.raw if task.dummified else corpora.data
            raise StoreError(
                f"{row.name}, seed {seed}, has other data of {name} than {folder}; with another train split, other "
                "strings are seen",
                fix="give the folders of the data that it was made with.",
            )
        counts, others = strings.count(units, columns["gold"], columns["prediction"])
        of_run, names, documented = sum_clusters(
            counts.reshape(len(units), -1),
            list(columns["id"]),
            [unit.get("doc_id") for unit in units],
        )
        sums.append(of_run)
    shared = len({tuple(run.columns["id"]) for run in answers.values()}) == 1
    if not shared:
        sums, names = [each.sum(0, keepdims=True) for each in sums], ["all"]
    kind = "documents" if documented else task.task_type.examples or task.unit
    return SeenScores(
        strings,
        tuple(answers),
        Clusters(ClassFigure(0, "f1"), np.stack(sums), tuple(names), kind),
        shared,
        others,
        bool(row.limits("max_train").get(name)),
    )


def unseen_scores(
    row: Row, split: ScoredSplit, corpora: Corpora
) -> tuple[Row, dict[str, Clusters | None]]:
    """The row with F1 of unseen strings in place of its scores, and the examples of each dataset that has it.

    Leaves out datasets without such a figure, or with fewer than `FEWEST` unseen gold items.

    :raises SettingsError: if none is left
    """
    datasets, clusters = {}, dict[str, Clusters | None]()
    reasons = []
    for name, dataset in row.datasets.items():
        try:
            counted = count_seen(row, name, split, corpora)
        except SettingsError as error:
            reasons.append((name, error.what))
            continue
        if counted.strings.typed or counted.gold(UNSEEN) < FEWEST:
            few = f"fewer than {FEWEST} unseen gold {counted.strings.unit}"
            reasons.append((name, "has recall alone" if counted.strings.typed else few))
            continue
        unseen = counted.of_figure(UNSEEN, "f1")
        clusters[name] = unseen if counted.shared else None
        runs = {
            seed: replace(dataset.runs[seed], figures={split: {"f1": Figure(score)}})
            for seed, score in zip(counted.seeds, unseen.scores.tolist(), strict=True)
        }
        datasets[name] = replace(dataset, metric="f1", runs=runs)
    if not datasets:
        raise no_figures(reasons)
    return replace(row, datasets=datasets), clusters


def no_figures(reasons: Iterable[tuple[str, str]]) -> SettingsError:
    """The error where no dataset has figures of seen and unseen strings.

    :param reasons: dataset and why it has none
    """
    why = " ".join(group_reasons(reasons)) or "None is chosen."
    return SettingsError(f"No dataset has figures of seen and unseen strings. {why}")
