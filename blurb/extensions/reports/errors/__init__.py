"""Error analysis of a trial: counts and ids from its predictions, and text if the caller provides the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from blurb import formulations
from blurb.extensions.reports.errors._base import Mistake, Report, ReportTable
from blurb.messages.errors import SettingsError
from blurb.registry import load_object
from blurb.store.record import Record
from blurb.tasks import Split

__all__ = ["Mistake", "Report", "ReportTable", "analyse", "confusion", "units"]


def analyse(
    record: Record,
    split: Split,
    rows: Mapping[str, dict[str, Any]] | None = None,
    train: Sequence[Mapping[str, Any]] = (),
) -> Report:
    """Analyses the predictions of one trial.

    :param rows: id -> example of that split, from the user's data; without it everything that needs text is omitted
    :param train: examples of the train split, to separate seen from unseen entities
    """
    task = record.task
    if not task.task_type.errors:
        raise SettingsError(f"there is no error analysis for tasks of type {task.type}.", where=task.name)
    analysis: Callable[..., Report] = load_object(task.task_type.errors, f"error analysis of the type {task.type}")
    return analysis(task, record.predictions(split), units(record, rows), train)


def confusion(record: Record, report: Report) -> ReportTable:
    """The confusion matrix of a trial; SettingsError if its examples have no one answer."""
    if report.confusion is None:
        raise SettingsError("there is no confusion matrix, as its examples have no one class.", where=record.task.name)
    return report.confusion


def units(record: Record, rows: Mapping[str, dict[str, Any]] | None) -> dict[str, dict[str, Any]]:
    """The examples as the trial predicted them, by id (`Formulation.units`); empty without the user's data."""
    if rows is None:
        return {}
    formulation = formulations.bind(record.task, record.trial.settings)
    return {str(unit["id"]): unit for unit in formulation.units(list(rows.values()))}
