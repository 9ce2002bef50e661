"""The predicted examples of several runs of one task, as the sums that a metric needs (`blurb.metrics.counts`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blurb import formulations, metrics
from blurb.runs.store import Record, read_predictions
from blurb.statistics.clusters import Clusters
from blurb.tasks import Split


def load(records: Mapping[int, Record], split: Split = "test", drop: Collection[str] = ()) -> Clusters | None:
    """The examples of the runs of one task, one run per seed; None if the runs scored different examples.

    That is the case if `max_eval` sampled other examples for every seed; then the effect of their choice is unknown.

    :param drop: ids of examples to leave out
    """
    found: list[NDArray[np.float64]] = []
    names: list[str] = []
    kind = metric = ""
    for _, record in sorted(records.items()):
        task = record.task
        counts, clusters, named = _of_run(record, split, drop)
        if found and (clusters != names or counts.shape != found[0].shape):
            return None
        found.append(counts)
        names, metric = clusters, task.metric
        kind = "documents" if named else task.task_type.examples or task.unit
    return Clusters(metrics.get(metric), np.stack(found), tuple(names), kind) if found else None


def mistakes(records: Mapping[int, Record], split: Split) -> dict[str, float]:
    """Mistakes in each example by id, as a mean over runs (`mistakes` of the metric)."""
    found: dict[str, float] = {}
    for record in records.values():
        columns, formulation = _columns(record, split), _formulation(record)
        counts, documents = formulation.counts(columns["gold"], columns["prediction"], columns["doc_id"])
        # What is scored by document has one row a document, everything else one a unit.
        whole = len(counts) == len(columns["id"])
        names = columns["id"] if whole else documents
        for name, wrong in zip(names, metrics.get(formulation.task.metric).mistakes(counts), strict=True):
            found[str(name)] = found.get(str(name), 0.0) + float(wrong) / len(records)
    return found


def _formulation(record: Record) -> formulations.Formulation:
    return formulations.bind(record.task, record.trial.settings)


def _of_run(record: Record, split: Split, drop: Collection[str]) -> tuple[NDArray[np.float64], list[str], bool]:
    """Sums of each cluster, their names, and whether they are documents."""
    columns = _columns(record, split)
    if drop:
        kept = [place for place, name in enumerate(columns["id"]) if name not in drop]
        columns = {name: [values[place] for place in kept] for name, values in columns.items()}
    counts, documents = _formulation(record).counts(columns["gold"], columns["prediction"], columns["doc_id"])
    named = bool(documents) and None not in documents
    if not named:
        return counts, [str(name) for name in columns["id"]], False
    place = {name: number for number, name in enumerate(dict.fromkeys(documents))}
    sums = np.zeros((len(place), counts.shape[1]))
    np.add.at(sums, [place[name] for name in documents], counts)
    return sums, [str(name) for name in place], True


def _columns(record: Record, split: Split) -> dict[str, list[Any]]:
    return read_predictions(record.path / "predictions.parquet", ("id", "doc_id", "gold", "prediction"), split)
