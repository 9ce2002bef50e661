"""Rows from the trials of a store."""

from __future__ import annotations

from collections.abc import Mapping

from blurb.learners import row_name
from blurb.messages.errors import Tell, tell_damage
from blurb.names import by_number
from blurb.results.dataset_scores import plugins_text
from blurb.results.row_scores import Origin, RowScores, labelled
from blurb.results.stored_scores import Kinds, Runs, StoredScores
from blurb.store import index
from blurb.store import planned_rows as row_files
from blurb.store.index import Entry
from blurb.store.planned_rows import PlannedRow
from blurb.store.store import Store
from blurb.system.gc_control import gc_disabled


def read(store: Store, tell: Tell = tell_damage, every_file: bool = True, near: str = "") -> list[RowScores]:
    """All rows of a store with a finished trial, by model and configuration.

    :param tell: receives messages about damaged files and trials, which are left out
    :param every_file: whether a trial of the index counts only while size and time of all its files are as they were;
        otherwise the time of its folder is enough, which is a tenth of the time
    :param near: the name of a row or of its model: only those that it may be of, named as among all
    """
    with gc_disabled():
        planned = [(row, _keys(store, row)) for row in row_files.read(store, tell, near)]
        keys = (key for _, tasks in planned for seeds in tasks.values() for key in seeds.values())
        entries = index.of(store.root).look(store, keys, tell, every_file)
        kinds = Kinds()
        rows = [_row(store, row, tasks, entries, kinds) for row, tasks in planned]
    kept = [row for row in rows if any(one.runs for one in row.datasets.values())]
    return labelled(sorted(kept, key=_order))


def _order(row: RowScores) -> tuple[object, ...]:
    made = row.configuration
    return made.suite, by_number(row.model), made.text, made.precision, row.weights, row.tokenizer, row.recipe


Keys = Mapping[str, Mapping[int, str]]
"""Task -> seed -> name of the trial in the index."""


def _keys(store: Store, row: PlannedRow) -> Keys:
    folder = store.folder(row.model)
    return {
        task: {seed: f"{folder}/{task}/{hash_}" for seed, hash_ in seeds.items()} for task, seeds in row.trials.items()
    }


def _row(store: Store, row: PlannedRow, keys: Keys, entries: Mapping[str, Entry], kinds: Kinds) -> RowScores:
    root = str(store.root)
    datasets = {}
    for task, seeds in keys.items():
        there = {seed: entries[key] for seed, key in seeds.items() if key in entries}
        first = next((entry.facts for entry in there.values()), None)
        kind = None if first is None else kinds.of(first, task)
        datasets[task] = StoredScores(
            task,
            type="" if kind is None else kind.type,
            metric="" if first is None else first.metric,
            runs=Runs(there, root, task, row.families[task], kinds, plugins_text(row.plugins.get(task, {}))),
            planned=len(seeds),
            kind=kind,
        )
    return RowScores(
        model=row.model,
        datasets=datasets,
        origin=Origin.STORE,
        configuration=row.configuration,
        weights=row.weights,
        tokenizer=row.tokenizer,
        learner=row_name(row.weights, row.learner),
        recipe=str(row.recipe),
        key=row.key,
        planned_seeds={task: tuple(sorted(seeds)) for task, seeds in row.trials.items()},
        tags=row.tags,
        remarks=(row.design,) if row.design else (),
    )
