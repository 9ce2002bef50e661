"""A row of results, wherever it comes from: trials of a store, a table, a paper.

Whoever ranks, compares, draws or exports takes rows of this type and nothing else.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

from blurb import tasks
from blurb.results import notes
from blurb.results.score import blurb_score, spread, type_means
from blurb.runs.spec import PROBE, Configuration
from blurb.runs.store import Record
from blurb.tasks import Split
from blurb.wording import distinct

DEMO = "demo"
DATASETS = tuple(task.name for task in tasks.all() if task.row)
"""The thirteen, in the order of the paper's Table 6."""
SETTINGS = ("head", "pooling", "word_pooling", "tagging", "relation_input")
"""What stands around the encoder; empty where it does not concern a trial."""
LIMITS = ("max_train", "max_eval")
"""Most units of a split; empty where there is no limit."""


class Origin(Enum):
    """Where the numbers of a row were read."""

    STORE = "store"
    RESULTS = "results.csv"
    LEADERBOARD = "leaderboard.csv"
    PUBLISHED = "published"


class Figure(NamedTuple):
    """A metric of one run on one split, and what the best constant answer gets; times 100, counts as they are."""

    value: float
    majority: float | None = None


@dataclass(frozen=True)
class Run:
    """One seed on one dataset.

    :param figures: split -> metric -> figure
    :param verdict: on the data: "identical" to the release, or what else (`blurb.data.verify`)
    :param data_hash: shortened
    :param metrics_version: of the metrics that the figures were computed with
    :param settings: `SETTINGS` and `LIMITS` as tables print them; what is not there is not known
    :param family: hash of the trial without its seed; "" where it is not known
    :param trial: its hash
    :param record: the trial itself, where its predictions are at hand
    """

    figures: Mapping[Split, Mapping[str, Figure]]
    verdict: str = ""
    data_hash: str = ""
    metrics_version: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    family: str = ""
    trial: str = ""
    record: Record | None = None


@dataclass(frozen=True)
class DatasetScores:
    """What a row has of one dataset.

    :param metric: the one that counts
    :param runs: by seed; empty for numbers without runs
    :param planned: how many seeds there are to be; 0 where it is not known
    :param means: by split, of numbers without runs
    :param count: how many runs such a mean is of; 0 where it is not known
    """

    task: str
    type: str = ""
    metric: str = ""
    runs: Mapping[int, Run] = field(default_factory=dict)
    planned: int = 0
    means: Mapping[Split, float] = field(default_factory=dict)
    count: int = 0

    def scores(self, split: Split = "test") -> dict[int, float]:
        """The score of each seed, times 100; of those whose split is there."""
        return {
            seed: run.figures[split][self.metric].value
            for seed, run in sorted(self.runs.items())
            if self.metric in run.figures.get(split, {})
        }

    def mean(self, split: Split = "test") -> float | None:
        """Over runs, or as it was read."""
        scores = self.scores(split)
        return statistics.fmean(scores.values()) if scores else self.means.get(split)

    def majority(self, split: Split = "test") -> float | None:
        """What the best constant answer gets, as a mean over runs; None where it is not known."""
        figures = [run.figures.get(split, {}).get(self.metric) for run in self.runs.values()]
        known = [one.majority for one in figures if one is not None and one.majority is not None]
        return statistics.fmean(known) if known else None

    def limit(self, setting: str) -> int | None:
        """`max_train` or `max_eval` of its runs, 0 for none; None where it is not known."""
        known = [run.settings[setting] for run in self.runs.values() if setting in run.settings]
        return int(known[0] or 0) if known else None

    def known(self, fact: str) -> frozenset[str]:
        """The different values of a field of the runs, as far as they are known; one if they are of one kind."""
        return frozenset(value for run in self.runs.values() if (value := getattr(run, fact)))


@dataclass(frozen=True)
class RowScores:
    """One model in one configuration, or of one source.

    :param datasets: by task, those that are planned and have no run yet among them
    :param configuration: protocol, overrides, precision, suite; None for numbers of others
    :param weights: hash of the model's, 64 digits from a store and 12 from a table
    :param key: of the row in its store (`blurb.runs.rows`)
    :param source: of numbers of others: the paper, and its edition
    :param printed: the score as printed there, which need not be the mean of what is printed
    :param remarks: what is to be known of such numbers
    :param certainty: how they are known (`blurb.results.published`)
    """

    model: str
    datasets: Mapping[str, DatasetScores]
    origin: Origin
    configuration: Configuration
    weights: str = ""
    tokenizer: str = ""
    learner: str = "encoder"
    recipe: str = ""
    key: str = ""
    planned_seeds: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    source: str = ""
    version: str = ""
    printed: float | None = None
    remarks: tuple[str, ...] = ()
    certainty: str = ""
    label: str = ""

    @property
    def name(self) -> str:
        """Model and configuration, and what else tells it from the rows it was read with (`labelled`)."""
        return self.label or plain_name(self)

    @property
    def detail(self) -> str:
        """The name without the model's: what tells the rows of one model apart."""
        return self.name.removeprefix(self.model).replace(f"({self.source})", self.source).strip()

    @property
    def suite(self) -> str:
        """`blurb`, or `demo` for synthetic data."""
        return self.configuration.suite

    @property
    def identity(self) -> tuple[str, ...]:
        """What makes two rows one: suite, model, learner and configuration, as tables print them; or the source."""
        made = self.configuration
        if self.published:
            return self.origin.value, self.source, self.version, self.model
        return (
            made.suite, self.model, self.weights[:12], self.tokenizer[:12], self.learner, self.recipe, made.protocol,
            made.protocol_hash[:12], made.overrides_text, made.precision,
        )  # fmt: skip

    @property
    def probe(self) -> bool:
        """Of a frozen encoder: never in one test or one ranking with fine-tuned ones."""
        return self.learner == PROBE

    @property
    def published(self) -> bool:
        """Numbers of a paper."""
        return self.origin is Origin.PUBLISHED

    @property
    def records(self) -> dict[str, dict[int, Record]]:
        """The trials by dataset and seed, where their predictions are at hand."""
        return {name: records for name in self.datasets if (records := self.records_of(name))}

    def records_of(self, task: str) -> dict[int, Record]:
        """The trials of a dataset by seed, where their predictions are at hand."""
        runs = self.datasets[task].runs if task in self.datasets else {}
        return {seed: run.record for seed, run in sorted(runs.items()) if run.record is not None}

    def values(self, task: str, split: Split = "test") -> list[float]:
        """The score of each run, times 100, in the order of the seeds."""
        return list(self.datasets[task].scores(split).values()) if task in self.datasets else []

    def means(self, split: Split = "test") -> dict[str, float]:
        """The mean of every dataset that has one, those of task files among them."""
        return {name: mean for name, one in self.datasets.items() if (mean := one.mean(split)) is not None}

    def blurb_means(self, split: Split = "test") -> dict[str, float]:
        """Those of the thirteen datasets, in the paper's order."""
        means = self.means(split)
        return {name: means[name] for name in DATASETS if name in means}

    def type_means(self) -> dict[str, float]:
        """Means of the task types that are there whole."""
        return type_means(self.blurb_means())

    @property
    def score(self) -> float | None:
        """The BLURB score: as a paper printed it, else of the thirteen datasets; None unless all are there."""
        return blurb_score(self.blurb_means()) if self.printed is None else self.printed

    @property
    def spread(self) -> tuple[float, float] | None:
        """Standard deviation of the score over seeds and standard error of its mean."""
        deviations = {}
        for name in self.blurb_means():
            values = self.values(name)
            deviations[name] = (statistics.stdev(values) if len(values) > 1 else 0.0, len(values))
        return spread(deviations)

    @property
    def missing(self) -> list[str]:
        """Datasets of BLURB without any number."""
        there = self.blurb_means()
        return [name for name in DATASETS if name not in there]

    @property
    def complete(self) -> bool:
        """All thirteen datasets are there, each with all the seeds that it is to have."""
        return not self.missing and all(len(one.runs) >= one.planned for one in self.datasets.values())

    def seeds(self, task: str) -> tuple[int, ...]:
        """Seeds of the finished runs."""
        return tuple(sorted(self.datasets[task].runs)) if task in self.datasets else ()

    @property
    def run_counts(self) -> list[int]:
        """The different numbers of runs of its datasets, the smallest first."""
        counts = (len(one.runs) or one.count for one in self.datasets.values() if one.mean() is not None)
        return sorted({count for count in counts if count})

    @property
    def data(self) -> str:
        """`synthetic`, `verified` (all data identical to the release), what is not, or `not known`."""
        if self.suite == DEMO:
            return "synthetic"
        if not any(one.runs for one in self.datasets.values()):
            return "not known"
        doubtful = [
            f"{name} {verdict}"
            for name, one in sorted(self.datasets.items())
            for verdict in sorted(one.known("verdict") - {"identical"})
        ]
        return "; ".join(doubtful) or "verified"

    def limits(self, setting: str) -> dict[str, int]:
        """The value of `max_train` or `max_eval` by dataset, where it is known."""
        found = {name: one.limit(setting) for name, one in self.datasets.items()}
        return {name: limit for name, limit in found.items() if limit is not None}

    @property
    def note(self) -> str:
        """What to know before comparing this row with others."""
        if self.published:
            return "; ".join(self.remarks)
        trained = {name: one.planned for name, one in self.datasets.items()} if self.learner == "encoder" else {}
        return notes.of_row(self.configuration.note, trained, self.limits("max_train"), self.limits("max_eval"))

    @property
    def capped(self) -> bool:
        """Whether a dataset was scored on a part of its examples: no figure of such a row is a result on BLURB."""
        return any(self.limits("max_eval").values())


def plain_name(row: RowScores) -> str:
    """Model and configuration, or model and source."""
    return (
        f"{row.model} ({row.source})" if row.published else " ".join(filter(None, (row.model, row.configuration.text)))
    )


def names(rows: Sequence[RowScores]) -> list[str]:
    """A name for each row; of those that are alike, with what else there is to tell them by."""
    return distinct([plain_name(row) for row in rows], [distinguishing(row) for row in rows])


def labelled(rows: Sequence[RowScores]) -> list[RowScores]:
    """The rows with names that tell them apart."""
    return [replace(row, label=name) for row, name in zip(rows, names(rows), strict=True)]


def distinguishing(row: RowScores) -> tuple[str, ...]:
    """What tells two rows of one model and configuration apart, the plainest first."""
    made = row.configuration
    return (
        made.precision, made.suite if not row.published else row.version, row.weights[:12], made.protocol_hash[:8],
        f"tokenizer {row.tokenizer[:8]}" if row.tokenizer else "", f"recipe {row.recipe}" if row.recipe else "",
    )  # fmt: skip
