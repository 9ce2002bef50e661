"""Rows from the trials of a store."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from blurb import metrics
from blurb.errors import BlurbError, StoreError, Tell, tell_damage
from blurb.results.dataset_scores import LIMITS, SETTINGS, DatasetScores, Figure, Run
from blurb.results.row_scores import Origin, RowScores, labelled
from blurb.runs import rows as row_files
from blurb.runs.rows import PlannedRow
from blurb.runs.spec import kind_of
from blurb.runs.store import Record, Store, left_out
from blurb.tasks import SCORED, Split, Task


def read(store: Store, tell: Tell = tell_damage) -> list[RowScores]:
    """All rows of a store with a finished trial, by model and configuration.

    :param tell: receives messages about damaged files and trials, which are left out
    """
    rows = [_row(store, row, tell) for row in row_files.read(store, tell)]
    kept = [row for row in rows if any(one.runs for one in row.datasets.values())]
    return labelled(sorted(kept, key=_order))


def _order(row: RowScores) -> tuple[str, ...]:
    made = row.configuration
    return made.suite, row.model, made.text, made.precision, row.weights, row.tokenizer, row.recipe


def _row(store: Store, row: PlannedRow, tell: Tell) -> RowScores:
    datasets = {}
    for task, seeds in row.trials.items():
        records = _records(store, row.model, task, seeds, tell)
        first = next(iter(records.values()), None)
        declared = None if first is None else _declared(first)
        tallies = _tallies(declared)
        datasets[task] = DatasetScores(
            task,
            type="" if declared is None else declared.type,
            metric="" if first is None else str(first.metrics["metric"]),
            runs={seed: _run(record, row.families[task], tallies) for seed, record in records.items()},
            planned=len(seeds),
        )
    trials = [run.record.trial for one in datasets.values() for run in one.runs.values() if run.record is not None]
    return RowScores(
        model=row.model,
        datasets=datasets,
        origin=Origin.STORE,
        configuration=row.configuration,
        weights=row.weights,
        tokenizer=row.tokenizer,
        # A row of before may not say it, and its trials do.
        learner=row.learner or (trials[0].kind if trials else kind_of(row.weights)),
        recipe=str(row.recipe),
        key=row.key,
        planned_seeds={task: tuple(sorted(seeds)) for task, seeds in row.trials.items()},
    )


def _records(store: Store, model: str, task: str, seeds: Mapping[int, str], tell: Tell) -> dict[int, Record]:
    """The finished trials by seed; damaged ones are reported and left out."""
    records = {}
    for seed, hash_ in seeds.items():
        path = store.path(model, task, hash_)
        if not path.exists():  # planned, and not run yet
            continue
        try:
            if damage := store.damage(path):
                tell(left_out(path, damage))
            else:
                records[seed] = store.read(path)
        except StoreError as error:
            tell(f"{error} The trial is left out.")
    return records


def _run(record: Record, family: str, tallies: Collection[str]) -> Run:
    settings = record.trial.settings
    return Run(
        figures={split: _figures(record, split, tallies) for split in SCORED},
        verdict=record.provenance.data_verdict,
        data_hash=record.trial.data[:12],
        metrics_version=str(record.metrics["metrics_version"]),
        settings={
            **{axis: str(settings.get(axis, "")) for axis in SETTINGS},
            **{limit: str(settings.get(limit) or "") for limit in LIMITS},
        },
        family=family,
        trial=record.path.name,
        record=record,
    )


def _figures(record: Record, split: Split, tallies: Collection[str]) -> dict[str, Figure]:
    """The metrics of a split: fractions times 100, counts unchanged."""
    majority = record.metrics["majority"][split]
    factors = {name: 1 if name in tallies else 100 for name in record.metrics[split]}
    return {
        name: Figure(factor * record.metrics[split][name], factor * majority[name] if name in majority else None)
        for name, factor in factors.items()
    }


def _declared(record: Record) -> Task | None:
    """The task of a trial, also from a task file; None if its plug-in is not installed."""
    try:
        return record.task
    except BlurbError:
        return None


def _tallies(task: Task | None) -> frozenset[str]:
    """Metrics of a task that are counts; for an unknown metric, the counts of all known metrics."""
    known = [task.metric] if task is not None and task.metric in metrics.names() else metrics.names()
    return frozenset().union(*(metrics.get(name).tallies for name in known))
