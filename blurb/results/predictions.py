"""The predicted examples of several runs of one task, as the sums that a metric needs (`blurb.metrics.Metric`)."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from blurb import formulations, metrics
from blurb.messages import BlurbError, StoreError
from blurb.results.row import Row
from blurb.statistics.bootstrap import Clusters
from blurb.store.record import Record
from blurb.tasks import Split


def load_clusters(
    records: Mapping[int, Record], split: Split = "test", drop: Collection[str] = ()
) -> Clusters | None:
    """The examples of the runs of one task, one run per seed; None if the runs scored different examples.

    That is the case if `max_eval` sampled other examples for every seed; then the effect of their choice is unknown.
    None also without runs or examples, and if the plug-in that scores the task is not installed.

    :param drop: ids of examples to leave out
    """
    runs = []
    for _, record in sorted(records.items()):
        formulation, columns = _formulation_of(record), record.predictions(split)
        kept = [place for place, name in enumerate(columns["id"]) if name not in drop]
        if formulation is None or not kept:
            return None
        runs.append(
            (
                formulation,
                {name: [values[place] for place in kept] for name, values in columns.items()},
            )
        )
    return shared_clusters(runs) if runs else None


def shared_clusters(
    runs: Sequence[tuple[formulations.Formulation, Mapping[str, Sequence[Any]]]],
) -> Clusters | None:
    """The examples of runs of one task; None if the runs scored different examples.

    :param runs: formulation of each, with `id`, `doc_id`, `gold` and `prediction`
    """
    scored = [sum_clusters(*_score_examples(*run)) for run in runs]
    counts, names, named = scored[-1]
    if any(each[1] != names or each[0].shape != counts.shape for each in scored):
        return None
    task = runs[-1][0].task
    kind = "documents" if named else task.task_type.examples or task.unit
    return Clusters(
        metrics.get(task.metric), np.stack([each[0] for each in scored]), tuple(names), kind
    )


def sum_clusters(
    counts: metrics.Counts, names: list[str], documents: Sequence[str | None]
) -> tuple[metrics.Counts, list[str], bool]:
    """Sums of the documents of examples where all have one, else of the examples; their names, and which it is."""
    if None in documents:
        return counts, names, False
    place = {name: number for number, name in enumerate(dict.fromkeys(documents))}
    sums = np.zeros((len(place), counts.shape[1]))
    np.add.at(sums, [place[name] for name in documents], counts)
    return sums, [str(name) for name in place], True


def mistakes(records: Mapping[int, Record], split: Split) -> dict[str, float]:
    """Mistakes in each scored unit by name, as a mean over runs (`mistakes` of the metric).

    None are known if the plug-in that scores the task is not installed.
    """
    mean: dict[str, float] = {}
    for record in records.values():
        formulation = _formulation_of(record)
        if formulation is None:
            return {}
        counts, names, _ = _score_examples(formulation, record.predictions(split))
        for name, wrong in zip(
            names, metrics.get(formulation.task.metric).mistakes(counts), strict=True
        ):
            mean[name] = mean.get(name, 0.0) + float(wrong) / len(records)
    return mean


def _formulation_of(record: Record) -> formulations.Formulation | None:
    """How the trial put its task to the model; None if its task, type or metric is a plug-in that is not installed."""
    try:
        formulation = formulations.bind(record.task, record.trial.settings)
        metrics.get(formulation.task.metric)
    except BlurbError:
        return None
    return formulation


def _score_examples(
    formulation: formulations.Formulation, columns: Mapping[str, Sequence[Any]]
) -> tuple[metrics.Counts, list[str], Sequence[str | None]]:
    """Sums, name and document of every scored unit: an example, or a document of examples."""
    task = formulation.task
    try:
        counts, documents = formulation.counts(
            columns["gold"], columns["prediction"], columns["doc_id"]
        )
    except (TypeError, ValueError) as error:
        # A stored declaration may name any metric and leave out its options.
        raise StoreError(
            f"The metric {task.metric} cannot score the stored predictions of {task.name}, a task of type {task.type} "
            f"({error}); its declaration in a trial was altered.",
            fix="Remove that trial, or get it again.",
        ) from error
    if len(counts) == len(columns["id"]):
        return counts, [str(name) for name in columns["id"]], documents
    # By document; an example without one is a document of its own.
    return (
        counts,
        [name or f"without document {number}" for number, name in enumerate(documents, 1)],
        documents,
    )


SAME = 0.005
"""Difference below which two scores are equal in print."""


_known: dict[tuple[object, ...], float | None] = {}


def best_constant(row: Row, task: str, split: Split = "test") -> float | None:
    """The best score of a constant answer on the examples that a row was scored on, times 100, as a mean over its runs.

    :returns: None without predictions, or if the task's plug-in is not installed
    """
    records = list(row.records_of(task).values())
    if not records:
        return None
    if not row.limits("max_eval").get(task):  # else every seed may have examples of its own
        records = records[:1]
    scores = []
    for record in records:
        try:
            declared, trial, columns = record.task, record.trial, record.predictions(split)
            formulation = formulations.bind(declared, trial.settings)
            way = declared.name, trial.data, repr(formulation.options), split
            examples = (*way, hash(tuple(columns["id"])))
            if examples not in _known:  # the rows of a run mostly were scored on the same
                _known[examples] = formulation.best_constant(columns["gold"], columns["doc_id"])
        except (BlurbError, ValueError, KeyError, TypeError, OSError):
            return None  # a plug-in that is gone, or damage told elsewhere
        scores.append(_known[examples])
    known = [score for score in scores if score is not None]
    return 100 * statistics.fmean(known) if len(known) == len(scores) else None


def equals_a_constant(row: Row | None, task: str, split: Split = "test") -> bool:
    """Whether a score is that of the best constant answer, as printed; False without a row."""
    if row is None:
        return False
    floor, mean = best_constant(row, task, split), row.means(split).get(task)
    return floor is not None and mean is not None and abs(mean - floor) < SAME
