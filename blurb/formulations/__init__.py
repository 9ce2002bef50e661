"""One file a task type binds its steps; `bind` finds the one of a task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blurb.formulations._base import Classification, Formulation
from blurb.registry import load_object
from blurb.tasks import Task

__all__ = ["Classification", "Formulation", "bind", "of"]


def of(task: Task) -> type[Formulation]:
    """The formulation that the type of a task names."""
    formulation: type[Formulation] = load_object(task.task_type.formulation, f"formulation of the type {task.type}")
    return formulation


def bind(task: Task, options: Mapping[str, Any] | None = None) -> Formulation:
    """The formulation of a task, with the settings that concern it."""
    return of(task)(task, options)
