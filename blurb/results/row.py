"""A row of a leaderboard with its scores, wherever they come from: a store, a table or a paper.

Rankings, comparisons, plots and exports all use this type.
"""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

from blurb import learners, tasks
from blurb.data.schema import Example
from blurb.messages import make_distinct
from blurb.results import comparability
from blurb.results.comparability import Reason, Use
from blurb.results.score import (
    DATASETS,
    SCORE,
    DatasetScores,
    Spread,
    blurb_12,
    blurb_score,
    score_spread,
    type_means,
    type_weights,
)
from blurb.store.record import Record
from blurb.store.row_trials import TRAINED_ON, RowTrials
from blurb.store.trial import Configuration, short_weights
from blurb.tasks import TYPES, ScoredSplit, Split

DEMO = "demo"


class Origin(Enum):
    """The source of a row's numbers."""

    STORE = "store"
    RESULTS = "results.csv"
    LEADERBOARD = "leaderboard.csv"
    PUBLISHED = "published"
    BOARD = "board"


class Answers(NamedTuple):
    """What a run answered on a split.

    :param data: hash of the data that it was trained or scored on
    :param columns: `id`, `doc_id`, `gold` and `prediction`
    """

    data: str
    columns: Mapping[str, Sequence[Any]]


@dataclass(frozen=True, repr=False)
class Row:
    """The scores of one model in one configuration; rows of one model, learner and configuration are one row.

    :param configuration: protocol, overrides, precision, suite; empty for published numbers
    :param datasets: scores by task, including planned datasets without runs
    :param weights: hash of the model's weights, 64 digits from a store and 12 from a table
    :param tokenizer: hash of the tokenizer; "" for a baseline
    :param learner: kind of the row (`blurb.learners.RowKind`)
    :param recipe: number of the learner's recipe
    :param key: key of the row in its store (`blurb.store.row_trials`), or name of its folder on a board
    :param remarks: remarks on published numbers, on a row of a board, and on how seeds were planned
    :param tags: words that its user gave to it
    :param label: its name among the rows that it was read with (`label_rows`)
    :param unread: dataset -> share of the answers of a language model that could not be read, where it is told
    :param trained_on: what the model had met of its datasets before (`TRAINED_ON`); "" where nobody says
    """

    model: str
    configuration: Configuration
    datasets: Mapping[str, DatasetScores]
    origin: Origin
    weights: str = ""
    tokenizer: str = ""
    learner: str = learners.DEFAULT.rows.name
    recipe: str = ""
    key: str = ""
    published: ClassVar[bool] = False
    """Whether the numbers are from a paper."""
    remarks: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    label: str = ""
    unread: Mapping[str, float] = field(default_factory=dict)
    trained_on: str = ""

    @classmethod
    def of_store(cls, row: RowTrials, datasets: Mapping[str, DatasetScores], **more: Any) -> Row:
        """A row of a store; other fields as given."""
        return cls(
            row.model,
            row.configuration,
            datasets,
            Origin.STORE,
            row.weights,
            row.tokenizer,
            learners.row_name(row.weights, row.learner),
            str(row.recipe),
            row.key,
            tags=row.tags,
            trained_on=row.trained_on,
            **more,
        )

    @property
    def identity(self) -> tuple[str, ...]:
        """Its cells in a table, as `blurb.results.schema.KEY` orders them: rows with the same are one row."""
        configuration = self.configuration
        return (
            configuration.suite,
            self.model,
            short_weights(self.weights),
            self.tokenizer[:12],
            self.learner,
            self.recipe,
            configuration.protocol,
            configuration.protocol_hash[:12],
            configuration.overrides_text,
            configuration.precision,
        )

    @property
    def plain_name(self) -> str:
        """Model and configuration, or model and source.

        The suite is named where the protocol does not say it, whatever else a store holds: a script has the name.
        """
        configuration = self.configuration
        usual = DEMO if configuration.protocol == DEMO else "blurb"
        suite = "" if configuration.suite == usual else configuration.suite
        return " ".join(filter(None, (self.model, configuration.text, suite)))

    @property
    def name(self) -> str:
        """Model and configuration, and what distinguishes the row from others it was read with (`label_rows`)."""
        return self.label or self.plain_name

    def __repr__(self) -> str:
        """Short: the fields of all trials would be pages."""
        score = "" if self.score is None else f", score {self.score:.2f}"
        return f"<Row {self.name}: {len(self.means())} datasets{score}>"

    @property
    def detail(self) -> str:
        """The name without the model, which distinguishes the rows of one model."""
        return self.name.removeprefix(self.model).strip()

    @property
    def suite(self) -> str:
        """The suite: `blurb`, `demo` for synthetic data, or another one."""
        return self.configuration.suite

    @property
    def has_means(self) -> bool:
        """Whether its suite has task-type means and a score: the others are sets, and no benchmark."""
        return self.suite in ("", "blurb", DEMO)  # published rows name none

    @property
    def primary_key(self) -> tuple[str, ...]:
        """Equal for two readings of one row, from the store and from a table, and for nothing else."""
        return (*self.identity, *([self.key] if self.origin is Origin.BOARD else []))

    @property
    def details(self) -> tuple[str, ...]:
        """Properties that may distinguish rows of one name, the simplest first."""
        configuration = self.configuration
        return (
            configuration.precision,
            "",  # the edition of a publication
            self.learner,
            short_weights(self.weights),
            configuration.protocol_hash[:8],
            f"tokenizer {self.tokenizer[:8]}" if self.tokenizer else "",
            f"recipe {self.recipe}" if self.recipe else "",
            self.key if self.origin is Origin.BOARD else "",
        )

    @property
    def kind(self) -> learners.RowKind:
        """The properties of rows of its learner."""
        return learners.row_kind(self.learner)

    @property
    def records(self) -> dict[str, dict[int, Record]]:
        """The trials with predictions, by dataset and seed."""
        return {name: records for name in self.datasets if (records := self.records_of(name))}

    def records_of(self, task: str) -> dict[int, Record]:
        """The trials of a dataset with predictions, by seed."""
        runs = self.datasets[task].runs if task in self.datasets else {}
        return {seed: run.record for seed, run in sorted(runs.items()) if run.record is not None}

    def has_answers(self, task: str) -> bool:
        """Whether there are predictions on a dataset, of whatever split."""
        return bool(self.records_of(task))

    def answers(
        self, task: str, split: ScoredSplit, data: Path, rows: Sequence[Example] | None = None
    ) -> dict[int, Answers]:
        """What each run answered that has predictions on the split, by seed.

        :param data: folder of the gold answers, for a row that does not store them
        :param rows: the examples of the split, where they were read already
        """
        stored = {
            seed: Answers(record.trial.data, record.predictions(split))
            for seed, record in self.records_of(task).items()
        }
        return {seed: run for seed, run in stored.items() if run.columns["id"]}

    @cached_property
    def stamp(self) -> str:
        """Changes with every file of its trials, as they are known; "" if not all of them are."""
        stamps = {name: one.stamp for name, one in sorted(self.datasets.items())}
        return hashlib.sha256(repr(stamps).encode()).hexdigest() if all(stamps.values()) else ""

    def values(self, task: str, split: Split = "test") -> list[float]:
        """The score of each run, times 100, ordered by seed."""
        return list(self.datasets[task].scores(split).values()) if task in self.datasets else []

    def mean_values(self, names: Sequence[str], split: Split = "test") -> list[float]:
        """The mean over datasets of each run, by seed; of the seeds that all have, and none if a dataset is missing."""
        if not self.datasets.keys() >= set(names):
            return []
        scores = [self.datasets[name].scores(split) for name in names]
        seeds = set.intersection(*map(set, scores))
        return [statistics.fmean(one[seed] for one in scores) for seed in sorted(seeds)]

    def means(self, split: Split = "test") -> dict[str, float]:
        """The mean of every dataset that has one, including task files."""
        return {
            name: mean
            for name, one in self.datasets.items()
            if (mean := one.mean(split)) is not None
        }

    def blurb_means(self) -> dict[str, float]:
        """The means of the thirteen datasets, in the paper's order."""
        means = self.means()
        return {name: means[name] for name in DATASETS if name in means}

    def type_means(self) -> dict[str, float]:
        """The means of all complete task types, unless their datasets rest on two states of the data."""
        means = type_means(self.blurb_means())
        return {kind: mean for kind, mean in means.items() if not self._mixed(type_weights()[kind])}

    def overall_means(self) -> dict[str, float]:
        """The means over datasets that it has: of complete task types, `score` and `blurb-12`."""
        means = {**self.type_means(), SCORE: self.score, tasks.TWELVE: self.blurb_12}
        return {name: mean for name, mean in means.items() if mean is not None}

    def _mixed(self, names: Iterable[str]) -> bool:
        """Whether some of these datasets are the release and others, of which it is known, are not."""
        hashed = [
            name
            for name in names
            if (task := tasks.known_task(name)) and set(task.hashes) >= set(tasks.SPLITS)
        ]
        verdicts = filter(None, (self.datasets[name].known("verdict") for name in hashed))
        return len({verdict == {"identical"} for verdict in verdicts}) > 1

    @property
    def doubts(self) -> str:
        """The note on its data; "" without one."""
        if self.data in ("verified", "synthetic"):
            return ""
        mixed = "; its datasets rest on two states of the data, of which there is no mean"
        return f"data not verified: {self.data}" + (
            mixed if self._mixed(self.blurb_means()) else ""
        )

    @property
    def score(self) -> float | None:
        """The BLURB score, as published or computed from the thirteen datasets; None if any is missing."""
        return (
            None
            if len(self.type_means()) < len(TYPES) or self._mixed(DATASETS)
            else blurb_score(self.blurb_means())
        )

    @property
    def blurb_12(self) -> float | None:
        """The mean of the task-type means without BioASQ; None if any of the twelve is missing."""
        mean = blurb_12(self.blurb_means())
        return None if mean is None or self._mixed(self.blurb_means()) else mean

    @property
    def own_tasks(self) -> list[str]:
        """Its datasets outside BLURB: of task files and plug-ins."""
        return sorted(name for name in self.datasets if name not in DATASETS)

    @property
    def spread(self) -> Spread | None:
        """How far the score varies over seeds; None if that is not known."""
        deviations = {}
        for name in self.blurb_means():
            values = self.values(name)
            deviations[name] = (statistics.stdev(values) if len(values) > 1 else 0.0, len(values))
        return score_spread(deviations)

    def comparable_with(
        self, other: Row, use: Use, task: str = "", split: Split = "test"
    ) -> Reason | None:
        """Why this row does not meet another one; None if it does.

        :param use: the more is concluded, the more must be equal (`blurb.results.comparability`)
        :param task: a dataset, of which data, metric and scored examples must be equal, too
        """
        return next(
            (one.reason for one in comparability.find_obstacles(self, other, use, task, split)),
            None,
        )

    @property
    def missing(self) -> list[str]:
        """Datasets of BLURB without any number."""
        there = self.blurb_means()
        return [name for name in DATASETS if name not in there]

    @property
    def complete(self) -> bool:
        """Whether all thirteen datasets have all planned seeds."""
        return not self.missing and all(
            one.finished >= one.planned for one in self.datasets.values()
        )

    def seeds(self, task: str) -> tuple[int, ...]:
        """Seeds of the finished runs of a dataset."""
        return tuple(sorted(self.datasets[task].runs)) if task in self.datasets else ()

    @property
    def run_counts(self) -> list[int]:
        """The distinct numbers of runs of its datasets, smallest first."""
        return sorted(
            {one.finished for one in self.datasets.values() if one.mean() is not None} - {0}
        )

    @property
    def data(self) -> str:
        """`synthetic`, `verified` (all data identical to the release), a list of what differs, or `not known`."""
        if self.suite == DEMO:
            return "synthetic"
        if not any(dataset.known("verdict") for dataset in self.datasets.values()):
            return "not known"
        doubtful = [
            f"{name} {verdict}"
            for name, dataset in sorted(self.datasets.items())
            for verdict in sorted(dataset.verdicts - {"identical"})
        ]
        return "; ".join(doubtful) or "verified"

    def limits(self, setting: str) -> dict[str, int]:
        """The known values of `max_train` or `max_eval`, by dataset."""
        return {
            name: limit
            for name, one in self.datasets.items()
            if (limit := one.limit(setting)) is not None
        }

    @property
    def note(self) -> str:
        """Notes to read before comparing this row with others."""
        if self.origin is Origin.LEADERBOARD:  # the table says it in these words
            return self.configuration.note
        trained = (
            {name: one.planned for name, one in self.datasets.items()}
            if self.kind.beside_papers
            else {}
        )
        own = comparability.note(
            self.configuration.note, trained, self.limits("max_train"), self.limits("max_eval")
        )
        return "; ".join(filter(None, (*self.remarks, TRAINED_ON.get(self.trained_on), own)))

    @property
    def capped(self) -> bool:
        """Whether a dataset was scored on only some of its examples; such a row is not a result on BLURB."""
        return any(self.limits("max_eval").values())


@dataclass(frozen=True, repr=False)
class Published(Row):
    """The numbers of a publication.

    :param source: the publication
    :param version: edition, table or date
    :param printed: the published score, which may differ from the mean of the published datasets
    :param certainty: how the numbers are known (`blurb.results.published`)
    """

    origin: Origin = Origin.PUBLISHED
    published: ClassVar[bool] = True
    doubts: ClassVar[str] = ""
    source: str = ""
    version: str = ""
    printed: float | None = None
    certainty: str = ""

    @property
    def plain_name(self) -> str:
        """Model and source."""
        return f"{self.model} ({self.source})"

    @property
    def detail(self) -> str:
        """The source, and what distinguishes rows of it."""
        return self.name.removeprefix(self.model).replace(f"({self.source})", self.source).strip()

    @property
    def primary_key(self) -> tuple[str, ...]:
        """Publication, its edition and the model."""
        return self.origin.value, self.source, self.version, self.model

    @property
    def details(self) -> tuple[str, ...]:
        """The edition beside what other rows have."""
        first, _, *others = super().details
        return (first, self.version, *others)

    @property
    def note(self) -> str:
        """The remarks on these numbers."""
        return "; ".join(self.remarks)

    @property
    def edition(self) -> str:
        """Source and version, as tables have them in one cell."""
        return f"{self.source} ({self.version})" if self.version else self.source

    @property
    def score(self) -> float | None:
        """The score as published, or computed from the thirteen datasets; None if any is missing."""
        return super().score if self.printed is None else self.printed


RowT = TypeVar("RowT", bound=Row)


def label_rows(rows: Sequence[RowT]) -> list[RowT]:
    """The rows with distinct names, extended by further properties if rows have the same name."""
    names = make_distinct([row.plain_name for row in rows], [row.details for row in rows])
    return [replace(row, label=name) for row, name in zip(rows, names, strict=True)]
