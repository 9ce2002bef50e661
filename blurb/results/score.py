"""The BLURB score: the mean of six task-type means (not of thirteen datasets).

And the part of a row for one dataset: the figures of every run, and their evidence.

How far a score is on the way from a baseline without an encoder to the best published figure, in per cent.

A score says little by itself: PubMedQA at 55 and GAD at 69 are what one answer for all examples gets, HoC at 77 is what
a count of words gets. `skill.csv` has both ends for each dataset, on the real test sets: the floor is the better of the
best constant answer (`baseline:constant`) and `baseline:bigrams`, the ceiling the best figure among the published rows
at the time. Of EBM PICO the floor is of bigrams trained on the substitute train set (1,364 documents instead of 3,842),
whatever the row beside it was trained on. They are figures of this project, not of the benchmark, and carry a version,
as an end may be raised (version 1 had the constant answers alone). BioASQ has none, as its data needs a registration.
"""

from __future__ import annotations

import csv
import hashlib
import math
import statistics
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from blurb import tasks
from blurb.grouping import by_key
from blurb.messages import UnknownName
from blurb.store.record import Record
from blurb.tasks import TYPES, UNREGISTERED, Split

TYPE_OF = {task.name: task.type for task in tasks.all() if task.paper_order}
"""The thirteen datasets in the order of the paper's Table 6 -> the task type of each."""
DATASETS = tuple(TYPE_OF)
SETTINGS = ("head", "pooling", "word_pooling", "tagging", "relation_input")
"""Settings that change the network; empty if they do not apply to a trial."""
LIMITS = ("max_train", "max_eval", "eval_seed")
"""Maximum number of examples of a split, empty if there is no limit; and the seed that samples those of dev and test,
empty if it is that of the run."""
PLUGINS = "plugins"
"""The hashes of the plug-ins of a trial, as `head=ab12cd34`; empty if all of its code is built in."""


class Figure(NamedTuple):
    """A metric of one run on one split, and that of the majority answer; times 100 unless it is a count."""

    value: float
    majority: float | None = None


@dataclass(frozen=True)
class Run:
    """One seed on one dataset.

    :param figures: split -> metric -> figure
    :param verdict: verdict on the data, such as "identical" to the release (`blurb.data.loading`)
    :param data_hash: shortened hash of the data
    :param metrics_version: version of the metrics
    :param settings: `SETTINGS`, `LIMITS` and `PLUGINS` as in the tables; missing keys are unknown
    :param family: hash of the trial without its seed; "" if unknown
    :param trial: hash of the trial
    :param record: the trial itself, if its predictions are available
    :param stamp: of a trial of a store, changes with every file of it
    """

    figures: Mapping[Split, Mapping[str, Figure]]
    verdict: str = ""
    data_hash: str = ""
    metrics_version: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    family: str = ""
    trial: str = ""
    record: Record | None = None
    stamp: bytes = field(default=b"", compare=False)


@dataclass(frozen=True)
class DatasetScores:
    """The scores of a row on one dataset.

    :param metric: the main metric
    :param runs: runs by seed; empty for numbers without runs
    :param planned: number of planned seeds; 0 if unknown
    :param planned_seeds: these seeds, where they are known
    :param means: means by split, for numbers without runs
    :param count: number of runs behind such a mean; 0 if unknown
    :param facts: for numbers without runs: verdict, metrics_version and max_eval; missing keys are unknown
    """

    task: str
    type: str = ""
    metric: str = ""
    runs: Mapping[int, Run] = field(default_factory=dict)
    planned: int = 0
    means: Mapping[Split, float] = field(default_factory=dict)
    count: int = 0
    facts: Mapping[str, str] = field(default_factory=dict)
    planned_seeds: tuple[int, ...] = ()

    @property
    def stamp(self) -> str:
        """Changes with every file of its trials; "" if they are not known, or if code of one's own scores them."""
        runs = [run for _, run in sorted(self.runs.items())]
        # Of a store, whose datasets know their seeds, one without a finished trial has a stamp too.
        if self.task not in DATASETS or not (self.planned_seeds and all(run.stamp for run in runs)):
            return ""
        return hashlib.sha256(b"".join(run.trial.encode() + run.stamp for run in runs)).hexdigest()

    def scores(self, split: Split = "test") -> dict[int, float]:
        """The score of each seed that has the split, times 100."""
        return {
            seed: figures[self.metric].value
            for seed, run in sorted(self.runs.items())
            if self.metric in (figures := run.figures.get(split, {}))
        }

    def of_seeds(self, seeds: Collection[int]) -> DatasetScores:
        """The same with the runs of some seeds alone; numbers without runs stay as they are."""
        if set(self.runs) <= set(seeds):
            return self
        runs = {seed: run for seed, run in self.runs.items() if seed in seeds}
        return DatasetScores(
            self.task, self.type, self.metric, runs, self.planned, planned_seeds=self.planned_seeds
        )

    def mean(self, split: Split = "test") -> float | None:
        """The mean over runs, or the mean that was read; None without either."""
        scores = self.scores(split)
        return statistics.fmean(scores.values()) if scores else self.means.get(split)

    def majority(self, split: Split = "test") -> float | None:
        """The score of the majority answer, as a mean over runs; None if unknown."""
        figures = [run.figures.get(split, {}).get(self.metric) for run in self.runs.values()]
        known = [one.majority for one in figures if one is not None and one.majority is not None]
        return statistics.fmean(known) if known else None

    def limit(self, setting: str) -> int | None:
        """One of `LIMITS` of its runs, 0 for none; None if unknown."""
        known = [run.settings[setting] for run in self.runs.values() if setting in run.settings]
        if not self.runs and setting in self.facts:
            known = [self.facts[setting]]
        return int(known[0] or 0) if known else None

    @property
    def finished(self) -> int:
        """The number of runs behind the mean."""
        return len(self.runs) or self.count

    @property
    def plugins(self) -> str | None:
        """`PLUGINS` of its runs; None if unknown."""
        known = (
            {run.settings.get(PLUGINS) for run in self.runs.values()}
            if self.runs
            else {self.facts.get(PLUGINS)}
        )
        return known.pop() if len(known) == 1 else None

    def known(self, fact: str) -> frozenset[str]:
        """The distinct known values of a field of the runs."""
        if not self.runs:
            return frozenset(filter(None, [self.facts.get(fact)]))
        return frozenset(value for run in self.runs.values() if (value := getattr(run, fact)))

    @property
    def verdicts(self) -> frozenset[str]:
        """The verdicts on its data; `not known` where a score has none, as in a table made by hand."""
        return self.known("verdict") or frozenset({"not known"} if self.mean() is not None else ())


def in_order(datasets: Mapping[str, DatasetScores]) -> list[tuple[str, DatasetScores]]:
    """Datasets in the paper's order, then others by name."""
    order = {name: place for place, name in enumerate(DATASETS)}
    return sorted(datasets.items(), key=lambda one: (order.get(one[0], len(order)), one[0]))


def cells_of_settings(settings: Mapping[str, Any], plugins: str) -> dict[str, str]:
    """The settings of a trial as tables have them: `SETTINGS`, `LIMITS` and `PLUGINS`.

    :param plugins: as `plugins_text` writes them
    """
    return {
        **{axis: str(settings.get(axis, "")) for axis in SETTINGS},
        **{limit: str(settings.get(limit) or "") for limit in LIMITS},
        PLUGINS: plugins,
    }


def plugins_text(hashes: Mapping[str, str]) -> str:
    """`head=ab12cd34`: the settings of plug-ins with the hashes of their code, as `PLUGINS` has them."""
    return " ".join(
        f"{setting.replace(' ', '-')}={digest}" for setting, digest in sorted(hashes.items())
    )


SCORE = "score"
"""Its name among those of datasets."""


def type_means(scores: Mapping[str, float]) -> dict[str, float]:
    """Mean of each complete task type.

    :param scores: dataset -> score, on any scale
    :raises UnknownName: if a key is not one of the thirteen
    """
    for name in scores:
        if name not in DATASETS:
            raise UnknownName("dataset of BLURB", name, DATASETS)
    return {
        kind: sum(scores[name] for name in weights) / len(weights)
        for kind, weights in type_weights().items()
        if weights.keys() <= scores.keys()
    }


def blurb_score(scores: Mapping[str, float]) -> float | None:
    """The score from the thirteen datasets' scores; None if any is missing (Gu et al., Table 6).

    It reproduces the printed scores of all nine models of that table; a mean over datasets would be about one point
    higher.
    """
    means = type_means(scores)
    return sum(means.values()) / len(TYPES) if len(means) == len(TYPES) else None


def blurb_12(scores: Mapping[str, float]) -> float | None:
    """The mean of the task-type means without BioASQ, so that QA is PubMedQA alone; None if another dataset is missing.

    For those without a registration for BioASQ. It is not the BLURB score, and not comparable with it.
    """
    shares = weights_of_12()
    if any(name not in scores for name in shares):
        return None
    return sum(share * scores[name] for name, share in shares.items())


@cache
def type_weights() -> Mapping[str, dict[str, float]]:
    """Task type -> weight of each of its datasets in the mean of the type, both in the paper's order."""
    groups = by_key((kind, name) for name, kind in TYPE_OF.items())
    return {kind: dict.fromkeys(groups[kind], 1 / len(groups[kind])) for kind in TYPES}


@cache
def dataset_weights() -> Mapping[str, float]:
    """The weight of each dataset in the score; the weights sum to 1."""
    return {
        name: 1 / len(TYPES) / len(weights)
        for weights in type_weights().values()
        for name in weights
    }


def shares_of(names: Iterable[str]) -> dict[str, float]:
    """The weights of some datasets as in the score, with the sum 1; equal ones if none of them is of BLURB.

    >>> shares_of(["hoc", "gad", "my-task"]), shares_of(["my-task"])
    ({'hoc': 0.75, 'gad': 0.25}, {'my-task': 1.0})
    """
    there, weights = list(names), dataset_weights()
    known = {name: weights[name] for name in there if name in weights} or dict.fromkeys(there, 1.0)
    total = sum(known.values())
    return {name: weight / total for name, weight in known.items()}


@cache
def weights_of_12() -> Mapping[str, float]:
    """The weight of each of the twelve datasets in `blurb_12`."""
    groups = {
        kind: [name for name in names if name != UNREGISTERED]
        for kind, names in type_weights().items()
    }
    return {name: 1 / len(TYPES) / len(names) for names in groups.values() for name in names}


@cache
def mean_weights() -> Mapping[str, Mapping[str, float]]:
    """Name of a mean -> weight of each of its datasets: the task types, `score` and `blurb-12`."""
    return {**type_weights(), SCORE: dataset_weights(), tasks.TWELVE: weights_of_12()}


class Spread(NamedTuple):
    """How far the score varies over seeds.

    :param deviation: standard deviation of the score
    :param error: standard error of its mean
    :param degrees_of_freedom: of that error, by Satterthwaite; None if no seed differs from another
    """

    deviation: float
    error: float
    degrees_of_freedom: float | None


def score_spread(deviations: Mapping[str, tuple[float, int]]) -> Spread | None:
    """How far the score varies over seeds.

    :param deviations: dataset -> (sd over seeds, number of seeds); runs of different datasets are independent
    :returns: None unless all thirteen have at least two seeds
    """
    shares = dataset_weights()
    if any(name not in deviations or deviations[name][1] < 2 for name in shares):
        return None
    known = [(share, *deviations[name]) for name, share in shares.items()]
    variance = sum((share * sd) ** 2 for share, sd, _ in known)
    parts = [((share * sd) ** 2 / seeds, seeds) for share, sd, seeds in known]
    error = sum(part for part, _ in parts)
    certainty = sum(part**2 / (seeds - 1) for part, seeds in parts)
    return Spread(
        math.sqrt(variance), math.sqrt(error), error**2 / certainty if certainty else None
    )


VERSION = 2


@cache
def bounds() -> dict[str, tuple[float, float]]:
    """Dataset -> floor and ceiling."""
    return {
        line["task"]: (float(line["floor"]), float(line["ceiling"]))
        for line in csv.DictReader(
            Path(__file__).with_name("skill.csv").read_text(encoding="utf-8").splitlines()
        )
        if line["version"] == str(VERSION)
    }


def skill_percent(dataset: str, score: float) -> float | None:
    """Per cent of the way; below 0 under the floor, above 100 over the ceiling. None for a dataset without ends.

    >>> skill_percent("pubmedqa", 56.2), skill_percent("pubmedqa", 75.4), skill_percent("my-task", 50.0)
    (0.0, 100.0, None)
    """
    if dataset not in bounds():
        return None
    floor, ceiling = bounds()[dataset]
    return 100 * (score - floor) / (ceiling - floor)
