"""Rows from the trials of a store."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from blurb import metrics
from blurb.grouping import by_key
from blurb.messages import BlurbError, Tell, tell_damage
from blurb.names import by_number
from blurb.results import comparability
from blurb.results.dataset_scores import (
    DATASETS,
    LIMITS,
    PLUGINS,
    SETTINGS,
    DatasetScores,
    Figure,
    Run,
    plugins_text,
)
from blurb.results.groups import UNREAD
from blurb.results.row import Origin, Row, RowIdentity, label_rows
from blurb.store import index, row_trials
from blurb.store.index import IndexEntry, TrialFacts
from blurb.store.record import Record
from blurb.store.row_trials import RowTrials
from blurb.store.store import Store
from blurb.system.process import gc_disabled
from blurb.tasks import Split, Task


def read(
    store: Store, tell: Tell = tell_damage, every_file: bool = True, near: str = ""
) -> list[Row]:
    """All rows of a store with a finished trial, by model and configuration.

    :param tell: receives messages about damaged files and trials, which are left out
    :param every_file: whether a trial of the index counts only while size and time of all its files are as they were;
        otherwise the time of its folder is enough, which is a tenth of the time
    :param near: the name of a row or of its model: only those that it may be of, named as among all
    """
    with gc_disabled():
        planned = [(row, _keys(store, row)) for row in row_trials.read(store, tell, near)]
        keys = (key for _, tasks in planned for seeds in tasks.values() for key in seeds.values())
        entries = index.of(store.root).look(store, keys, tell, every_file)
        kinds: LayoutCache = {}
        rows = [_row(store, row, tasks, entries, kinds) for row, tasks in planned]
    return label_rows(
        sorted([row for row in rows if any(one.runs for one in row.datasets.values())], key=_order)
    )


def _order(row: Row) -> tuple[object, ...]:
    made = row.configuration
    return (
        made.suite,
        by_number(row.model),
        made.text,
        made.precision,
        row.weights,
        row.tokenizer,
        row.recipe,
    )


Keys = Mapping[str, Mapping[int, str]]
"""Task -> seed -> name of the trial in the index."""


def _keys(store: Store, row: RowTrials) -> Keys:
    folder = store.folder(row.model)
    return {
        task: {seed: f"{folder}/{task}/{hash_}" for seed, hash_ in seeds.items()}
        for task, seeds in row.trials.items()
    }


def _row(
    store: Store, row: RowTrials, keys: Keys, entries: Mapping[str, IndexEntry], kinds: LayoutCache
) -> Row:
    root = str(store.root)
    datasets = {}
    for task, seeds in keys.items():
        there = {seed: entries[key] for seed, key in seeds.items() if key in entries}
        first = next((entry.facts for entry in there.values()), None)
        kind = None if first is None else _layout(kinds, first, task)
        datasets[task] = StoredScores(
            task,
            type="" if kind is None else kind.type,
            metric="" if first is None else first.metric,
            runs=Runs(
                there,
                root,
                task,
                row.families[task],
                kinds,
                plugins_text(row.plugins.get(task, {})),
            ),
            planned=len(seeds),
            planned_seeds=tuple(sorted(seeds)),
            kind=kind,
        )
    shares = {
        task: max(row.unread.get(hash_, 0.0) for hash_ in seeds.values())
        for task, seeds in row.trials.items()
    }
    unread = {task: share for task, share in shares.items() if share}
    said = [UNREAD.format(f"{share:.0%}") + f" ({task})" for task, share in sorted(unread.items())]
    return Row(
        RowIdentity.of_store(row),
        datasets,
        Origin.STORE,
        (*said, *_remarks(row)),
        row.tags,
        unread=unread,
    )


def _remarks(row: RowTrials) -> Iterator[str]:
    """On how its seeds were planned, and on its learning rates, with the datasets if it is not all of them."""
    if row.design:
        yield row.design
    by_text = by_key((said, task) for task, said in sorted(row.rates.items()) if task in row.trials)
    for said, tasks_ in by_text.items():
        yield said if len(tasks_) == len(row.trials) else f"{said} ({comparability.listed(tasks_)})"


class RunLayout(NamedTuple):
    """The part of a record that runs of one kind share.

    :param type: of the task; "" if its plug-in is not installed
    :param settings: as `Run.settings`
    :param places: split -> metric -> factor, place of the figure, and of that of the majority answer
    """

    type: str
    settings: Mapping[str, str]
    places: Mapping[Split, Mapping[str, tuple[int, int, int | None]]]


LayoutCache = dict[tuple[int, str], tuple[RunLayout, TrialFacts]]
"""Id of facts and task -> the layout, and the facts, so that their id is not reused. A segment has one object of facts
for all its trials of a kind."""


def _layout(known: LayoutCache, facts: TrialFacts, task: str) -> RunLayout:
    """The layout of trials with these facts."""
    if (id(facts), task) not in known:
        declared = _declared(facts, task)
        metric = None if declared is None else metrics.known(declared.metric)
        # Figures that are no fractions; for an unknown metric, those of all known metrics.
        unscaled = frozenset[str]().union(
            *(one.unscaled for one in ([metric] if metric else metrics.usable()))
        )
        settings = {axis: str(facts.settings.get(axis, "")) for axis in SETTINGS}
        settings |= {limit: str(facts.settings.get(limit) or "") for limit in LIMITS}
        places = {
            split: {name: (1 if name in unscaled else 100, *place) for name, place in names.items()}
            for split, names in facts.places.items()
        }
        known[id(facts), task] = (
            RunLayout("" if declared is None else declared.type, settings, places),
            facts,
        )
    return known[id(facts), task][0]


def _declared(facts: TrialFacts, task: str) -> Task | None:
    """The task of a trial, also from a task file; None if its plug-in, or that of its type, is not registered here."""
    try:
        declared = facts.task(task)
        _ = declared.task_type
        return declared
    except BlurbError:
        return None


class Runs(Mapping[int, Run]):
    """The runs of a dataset by seed.

    :param root: folder of the store
    :param family: hash of the trials without their seeds
    :param plugins: as `DatasetScores.plugins`
    """

    __slots__ = ("_made", "entries", "family", "kinds", "plugins", "root", "task")

    def __init__(
        self,
        entries: Mapping[int, IndexEntry],
        root: str,
        task: str,
        family: str,
        kinds: LayoutCache,
        plugins: str,
    ) -> None:
        self.entries, self.root, self.task, self.family, self.kinds = (
            entries,
            root,
            task,
            family,
            kinds,
        )
        self.plugins = plugins
        self._made: dict[int, Run] = {}

    def __getitem__(self, seed: int) -> Run:
        if seed not in self._made:
            entry = self.entries[seed]
            facts, layout = entry.facts, self.kind(entry)
            self._made[seed] = Run(
                figures=_Figures(entry, layout),
                verdict=facts.verdict,
                data_hash=facts.data[:12],
                metrics_version=str(facts.metrics_version),
                settings={**layout.settings, PLUGINS: self.plugins},
                family=self.family,
                trial=entry.key.rpartition("/")[2],
                record=Record(f"{self.root}/{entry.key}"),
            )
        return self._made[seed]

    def __iter__(self) -> Iterator[int]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __reduce__(self) -> tuple[Any, ...]:
        """Entries point into the memory of their segment, which no other process has."""
        return dict, (dict(self),)

    def kind(self, entry: IndexEntry) -> RunLayout:
        """That of one of the entries."""
        return _layout(self.kinds, entry.facts, self.task)


class _Figures(Mapping[Split, Mapping[str, Figure]]):
    """The figures of a trial: fractions times 100, counts and losses unchanged."""

    __slots__ = ("entry", "kind")

    def __init__(self, entry: IndexEntry, kind: RunLayout) -> None:
        self.entry = entry
        self.kind = kind

    def __getitem__(self, split: Split) -> Mapping[str, Figure]:
        figure = self.entry.figure
        return {
            name: Figure(
                factor * figure(place), None if majority is None else factor * figure(majority)
            )
            for name, (factor, place, majority) in self.kind.places[split].items()
        }

    def __iter__(self) -> Iterator[Split]:
        return iter(self.kind.places)

    def __len__(self) -> int:
        return len(self.kind.places)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


@dataclass(frozen=True)
class StoredScores(DatasetScores):
    """The runs of a row on a dataset, with shortcuts for tables of many rows."""

    runs: Runs = field(kw_only=True)
    kind: RunLayout | None = None  # of the first of its runs

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.task, self.type, self.metric, dict(self.runs), self.planned)
        return DatasetScores, (*fields, {}, 0, {}, self.planned_seeds)

    @property
    def stamp(self) -> str:
        """Changes with every file of its trials; "" if code of one's own scores them."""
        if self.task not in DATASETS:
            return ""
        digest = hashlib.sha256()
        for _, entry in sorted(self.runs.entries.items()):
            digest.update(entry.key.encode() + entry.stamp)
        return digest.hexdigest()

    def scores(self, split: Split = "test") -> dict[int, float]:
        """The score of each seed that has the split, times 100."""
        if split not in self._scores:
            scores = self._scores[split] = {}
            facts = place = None
            for seed, entry in sorted(self.runs.entries.items()):
                if entry.facts is not facts:  # seeds mostly share them
                    facts = entry.facts
                    place = self.runs.kind(entry).places.get(split, {}).get(self.metric)
                if place is not None:
                    scores[seed] = place[0] * entry.figure(place[1])
        return dict(self._scores[split])

    @cached_property
    def _scores(self) -> dict[Split, dict[int, float]]:
        return {}

    def limit(self, setting: str) -> int | None:
        """One of `LIMITS` of its runs, 0 for none; None without runs."""
        return None if self.kind is None else int(self.kind.settings[setting] or 0)

    @property
    def plugins(self) -> str | None:
        """The plug-ins of its runs, which the row says for all of them."""
        return self.runs.plugins

    def known(self, fact: str) -> frozenset[str]:
        """The distinct known values of a field of the runs, without making the runs."""
        if fact not in _FACTS:
            return super().known(fact)
        return frozenset(
            filter(None, {_FACTS[fact](entry.facts) for entry in self.runs.entries.values()})
        )


_FACTS: Mapping[str, Callable[[TrialFacts], str]] = {
    "verdict": lambda facts: facts.verdict,
    "data_hash": lambda facts: facts.data[:12],
    "metrics_version": lambda facts: str(facts.metrics_version),
}
