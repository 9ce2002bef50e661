"""One file a task type binds its steps; `bind` finds the one of a task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blurb.formulations._base import Formulation
from blurb.registry import Registry
from blurb.tasks import Task

_registry: Registry[type[Formulation]] = Registry(
    "task type", "blurb.formulations", "FORMULATION", "blurb.formulations"
)


__all__ = ["Formulation", "bind", "plugin"]


def bind(task: Task, options: Mapping[str, Any] | None = None) -> Formulation:
    """The formulation of a task, with the settings that concern it."""
    return _registry.get(task.type)(task, options)


def plugin(task: Task) -> type[Formulation] | None:
    """The formulation of a task, if it is none of blurb's own."""
    return _registry.get(task.type) if _registry.is_plugin(task.type) else None
