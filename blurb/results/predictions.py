"""The predicted examples of several runs of one task, as the sums that a metric needs (`blurb.metrics.counts`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from blurb import formulations, metrics
from blurb.errors import BlurbError
from blurb.runs.store import Record
from blurb.statistics.clusters import Clusters
from blurb.tasks import Split


def load(records: Mapping[int, Record], split: Split = "test", drop: Collection[str] = ()) -> Clusters | None:
    """The examples of the runs of one task, one run per seed; None if the runs scored different examples.

    That is the case if `max_eval` sampled other examples for every seed; then the effect of their choice is unknown.
    None also without runs, and if the plug-in that scores the task is not installed.

    :param drop: ids of examples to leave out
    """
    runs: list[NDArray[np.float64]] = []
    names: list[str] = []
    kind = metric = ""
    for _, record in sorted(records.items()):
        formulation = _formulation(record)
        if formulation is None:
            return None
        counts, clusters, named = _of_run(record, formulation, split, drop)
        if runs and (clusters != names or counts.shape != runs[0].shape):
            return None
        runs.append(counts)
        task = formulation.task
        names, metric = clusters, task.metric
        kind = "documents" if named else task.task_type.examples or task.unit
    return Clusters(metrics.get(metric), np.stack(runs), tuple(names), kind) if runs else None


def mistakes(records: Mapping[int, Record], split: Split) -> dict[str, float]:
    """Mistakes in each example by id, as a mean over runs (`mistakes` of the metric).

    None are known if the plug-in that scores the task is not installed.
    """
    mean: dict[str, float] = {}
    for record in records.values():
        formulation = _formulation(record)
        if formulation is None:
            return {}
        columns = record.predictions(split)
        counts, documents = formulation.counts(columns["gold"], columns["prediction"], columns["doc_id"])
        # What is scored by document has one row a document, everything else one a unit.
        whole = len(counts) == len(columns["id"])
        names = columns["id"] if whole else documents
        for name, wrong in zip(names, metrics.get(formulation.task.metric).mistakes(counts), strict=True):
            mean[str(name)] = mean.get(str(name), 0.0) + float(wrong) / len(records)
    return mean


def _formulation(record: Record) -> formulations.Formulation | None:
    """How the trial put its task to the model; None if its task, type or metric is a plug-in that is not installed."""
    try:
        formulation = formulations.bind(record.task, record.trial.settings)
        metrics.get(formulation.task.metric)
    except BlurbError:
        return None
    return formulation


def _of_run(
    record: Record, formulation: formulations.Formulation, split: Split, drop: Collection[str]
) -> tuple[NDArray[np.float64], list[str], bool]:
    """Sums of each cluster, their names, and whether they are documents."""
    columns = record.predictions(split)
    if drop:
        kept = [place for place, name in enumerate(columns["id"]) if name not in drop]
        columns = {name: [values[place] for place in kept] for name, values in columns.items()}
    counts, documents = formulation.counts(columns["gold"], columns["prediction"], columns["doc_id"])
    named = bool(documents) and None not in documents
    if not named:
        return counts, [str(name) for name in columns["id"]], False
    place = {name: number for number, name in enumerate(dict.fromkeys(documents))}
    sums = np.zeros((len(place), counts.shape[1]))
    np.add.at(sums, [place[name] for name in documents], counts)
    return sums, [str(name) for name in place], True
