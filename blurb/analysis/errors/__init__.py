"""Error analysis of a trial: counts and ids from its predictions, and text if the caller provides the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from blurb import formulations
from blurb.analysis.errors._base import Mistake, Report, Table
from blurb.errors import SettingsError
from blurb.registry import load_object
from blurb.runs.store import Record
from blurb.tasks import Split

__all__ = ["Mistake", "Report", "Table", "analyse"]


def analyse(
    record: Record, split: Split, rows: Mapping[str, dict[str, Any]] | None = None,
    train: Sequence[Mapping[str, Any]] = (),
) -> Report:  # fmt: skip
    """Analyses the predictions of one trial.

    :param rows: id -> example of that split, from the user's data; without it everything that needs text is omitted
    :param train: examples of the train split, to separate seen from unseen entities
    """
    task = record.task
    if not task.task_type.errors:
        raise SettingsError(f"{task.name}: there is no error analysis for tasks of type {task.type}.")
    analysis: Callable[..., Report] = load_object(task.task_type.errors, f"error analysis of the type {task.type}")
    formulation = formulations.bind(task, record.trial.settings)
    units = formulation.units(list(rows.values())) if rows is not None else []
    by_id = {str(unit["id"]): unit for unit in units}
    return analysis(task, record.predictions(split), by_id, train)
