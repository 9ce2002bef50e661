"""Formulations: one module per task type; `bind` returns the formulation of a task."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from blurb.formulations._base import Classification, Formulation
from blurb.protocols.protocol import complete
from blurb.protocols.settings import FIELDS, Settings, typed
from blurb.registry import load_object
from blurb.tasks import TYPES, Task, types

__all__ = ["Classification", "Formulation", "bind", "of", "specific_settings"]


def of(task: Task) -> type[Formulation]:
    """The formulation class that the task's type declares."""
    formulation: type[Formulation] = load_object(task.task_type.formulation, f"formulation of the type {task.type}")
    return formulation


def bind(task: Task, settings: Settings | Mapping[str, Any] | None = None) -> Formulation:
    """Creates the formulation of a task; missing settings have their defaults.

    :param settings: settings, or the mapping that a trial stores
    """
    if not isinstance(settings, Settings):
        known = {name: typed(name, value, "settings") for name, value in (settings or {}).items() if name in FIELDS}
        settings = complete({"max_length": task.max_length, **known})
    return of(task)(task, settings)


@functools.cache
def specific_settings() -> frozenset[str]:
    """The settings that concern only some of BLURB's task types."""
    references = (types.get(name).formulation for name in TYPES)
    return frozenset().union(*(load_object(reference, "formulation").own_settings for reference in references))
