"""The part of a row for one dataset: the figures of every run, and their evidence."""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from blurb import tasks
from blurb.store.record import Record
from blurb.tasks import Split

DATASETS = tuple(task.name for task in tasks.all() if task.paper_order)
"""The thirteen datasets in the order of the paper's Table 6."""
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
        figures = {seed: run.figures.get(split, {}) for seed, run in sorted(self.runs.items())}
        return {
            seed: known[self.metric].value
            for seed, known in figures.items()
            if self.metric in known
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


def plugins_text(hashes: Mapping[str, str]) -> str:
    """`head=ab12cd34`: the settings of plug-ins with the hashes of their code, as `PLUGINS` has them."""
    return " ".join(
        f"{setting.replace(' ', '-')}={digest}" for setting, digest in sorted(hashes.items())
    )
