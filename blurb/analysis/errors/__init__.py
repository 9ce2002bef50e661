"""What a trial gets wrong: counts and ids from its predictions, text only where the caller brings it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from blurb import formulations
from blurb.analysis.errors import classes, documents, entities, similarity
from blurb.analysis.errors._base import Example, Report, Table
from blurb.runs.store import Record, read_predictions, task_of
from blurb.tasks import Split, TaskType

__all__ = ["Example", "Report", "Table", "analyse"]

ANALYSES: dict[TaskType, Callable[..., Report]] = {
    "ner": entities.analyse,
    "pico": entities.analyse,
    "relation": classes.analyse,
    "qa": classes.analyse,
    "document": documents.analyse,
    "similarity": similarity.analyse,
}


def analyse(
    record: Record, split: Split, rows: Mapping[str, dict[str, Any]] | None = None,
    train: Sequence[Mapping[str, Any]] = (),
) -> Report:  # fmt: skip
    """The tables and the examples of one trial.

    :param rows: id -> example of that split, from the user's data; without it nothing that needs text is said
    :param train: examples of the train split, to tell what was seen there
    """
    names = ("id", "doc_id", "gold", "prediction")
    columns = read_predictions(record.path / "predictions.parquet", names, split)
    task = task_of(record.path, record.trial.task)
    formulation = formulations.bind(task, record.trial.settings)
    units = formulation.units(list(rows.values())) if rows is not None else []
    found = {str(unit["id"]): unit for unit in units}
    return ANALYSES[task.type](task, columns, found, train)
