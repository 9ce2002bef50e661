"""Formulations: one module per task type; `bind` returns the formulation of a task."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from blurb import metrics
from blurb.formulations._base import Classification, Formulation
from blurb.messages import UnknownName
from blurb.protocols.settings import FIELDS, Settings, typed_value
from blurb.registry import load_object
from blurb.tasks import TYPES, Task, types

__all__ = ["Classification", "Formulation", "bind", "foreign_settings", "of"]


def of(task: Task) -> type[Formulation]:
    """The formulation class that the task's type declares."""
    formulation: type[Formulation] = load_object(
        task.task_type.formulation, f"formulation of the type {task.type}"
    )
    return formulation


def bind(task: Task, settings: Settings | Mapping[str, Any] | None = None) -> Formulation:
    """Creates the formulation of a task; missing settings have their defaults.

    :param settings: settings, or the mapping that a trial stores
    """
    if not isinstance(settings, Settings):
        known = {
            name: typed_value(name, value, "settings")
            for name, value in (settings or {}).items()
            if name in FIELDS
        }
        settings = Settings(**{"max_length": task.max_length, **known})
    formulation = of(task)
    check_metric(task)
    return formulation(task, settings)


def check_metric(task: Task) -> None:
    """Raises a SettingsError for an option that the metric of a task does not have; stored tasks may say anything."""
    if task.metric not in metrics.names():
        return
    # The first two parameters are gold and predictions.
    options = [*inspect.signature(metrics.get(task.metric).function).parameters][2:]
    for name in task.metric_options:
        if name not in options:
            raise UnknownName(
                f"option of the metric {task.metric} (task {task.name})", name, options
            )


def foreign_settings(formulation: Formulation) -> set[str]:
    """The settings that concern only some of BLURB's task types, and not this one."""
    return {
        setting
        for name in TYPES
        for setting in load_object(types.get(name).formulation, "formulation").own_settings
        if setting not in formulation.own_settings
    }
