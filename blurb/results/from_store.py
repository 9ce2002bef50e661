"""Rows from the trials of a store."""

from __future__ import annotations

from collections.abc import Mapping

from blurb import metrics
from blurb.grouping import by_key
from blurb.messages import BlurbError, Tell, tell_damage
from blurb.names import by_number
from blurb.results import comparability
from blurb.results.groups import UNREAD
from blurb.results.row import Row, label_rows
from blurb.results.score import PLUGINS, DatasetScores, Figure, Run, cells_of_settings, plugins_text
from blurb.store import index, row_trials
from blurb.store.index import TrialFacts
from blurb.store.record import Record, SplitFigures
from blurb.store.row_trials import RowTrials
from blurb.store.store import Store
from blurb.system.process import gc_disabled
from blurb.tasks import SCORED, Split


def read(store: Store, tell: Tell = tell_damage, near: str = "") -> list[Row]:
    """All rows of a store with a finished trial, by model and configuration.

    :param tell: receives messages about damaged files and trials, which are left out
    :param near: the name of a row or of its model: only those that it may be of, named as among all
    """
    with gc_disabled():
        planned = [(row, store.folder(row.model)) for row in row_trials.read(store, tell, near)]
        keys = [
            f"{folder}/{task}/{hash_}"
            for row, folder in planned
            for task, seeds in row.trials.items()
            for hash_ in seeds.values()
        ]
        finished = index.read_facts(store, keys, tell)
        scales: Scales = {}
        rows = [_make_row(store, row, folder, finished, scales) for row, folder in planned]
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


def _make_row(
    store: Store, row: RowTrials, folder: str, finished: Mapping[str, TrialFacts], scales: Scales
) -> Row:
    datasets = {}
    for task, seeds in row.trials.items():
        plugins = plugins_text(row.plugins.get(task, {}))
        runs: dict[int, Run] = {}
        type_ = metric = ""
        for seed, hash_ in seeds.items():
            facts = finished.get(f"{folder}/{task}/{hash_}")
            if facts is None:
                continue
            # Most trials of a store are of a handful of declarations; each is looked up once.
            name = f"{task} {facts.declaration}"
            if name not in scales:
                scales[name] = _find_scale(facts, task)
            if not runs:
                type_, metric = scales[name][0], facts.metrics["metric"]
            runs[seed] = Run(
                figures=_scale_figures(facts, scales[name][1]),
                verdict=facts.verdict,
                data_hash=facts.data[:12],
                metrics_version=str(facts.metrics["metrics_version"]),
                settings=cells_of_settings(facts.settings, plugins),
                family=row.families[task],
                trial=hash_,
                record=Record(f"{store.root}/{folder}/{task}/{hash_}"),
                stamp=facts.stamp,
            )
        datasets[task] = DatasetScores(
            task,
            type_,
            metric,
            runs,
            planned=len(seeds),
            planned_seeds=tuple(sorted(seeds)),
            facts={PLUGINS: plugins},
        )
    unread = {
        task: share
        for task, seeds in row.trials.items()
        if (share := max(row.unread.get(hash_, 0.0) for hash_ in seeds.values()))
    }
    said = [UNREAD.format(f"{share:.0%}") + f" ({task})" for task, share in sorted(unread.items())]
    # On how its seeds were planned, and on its learning rates, with the datasets if it is not all of them.
    if row.design:
        said.append(row.design)
    rates = by_key((rate, task) for task, rate in sorted(row.rates.items()) if task in row.trials)
    for rate, tasks in rates.items():
        some = "" if len(tasks) == len(row.trials) else f" ({comparability.listed(tasks)})"
        said.append(f"{rate}{some}")
    return Row.of_store(row, datasets, remarks=tuple(said), unread=unread)


Scales = dict[str, tuple[str, frozenset[str]]]
"""Task and declaration -> type of the task, and which of its figures are no fractions."""


def _find_scale(facts: TrialFacts, task: str) -> tuple[str, frozenset[str]]:
    """The scale of a trial's figures; of an unknown metric, that of all known metrics.

    The type is "" if its plug-in, or that of the task, is not installed.
    """
    try:
        declared = facts.task(task)
        _ = declared.task_type
    except BlurbError:
        type_, metric = "", None
    else:
        type_, metric = declared.type, metrics.known(declared.metric)
    every = [metric] if metric else metrics.usable()
    return type_, frozenset[str]().union(*(one.unscaled for one in every))


def _scale_figures(facts: TrialFacts, unscaled: frozenset[str]) -> dict[Split, dict[str, Figure]]:
    """The figures of a trial: fractions times 100, counts and losses unchanged."""
    majority: SplitFigures = facts.metrics["majority"]
    scaled: dict[Split, dict[str, Figure]] = {}
    for split in SCORED:
        beside, scaled[split] = majority[split], {}
        for name, value in facts.metrics[split].items():
            factor = 1 if name in unscaled else 100
            other = factor * beside[name] if name in beside else None
            scaled[split][name] = Figure(factor * value, other)
    return scaled
