"""The registry of task types: one declaration file each, or an entry point in the group `blurb.task_types`."""

from __future__ import annotations

from blurb.registry import Registry
from blurb.tasks.types._type import TaskType

__all__ = ["TYPES", "TaskType", "get", "names"]

TYPES = ("ner", "pico", "relation", "similarity", "document", "qa")
"""BLURB's six types in the order of the paper's tables. The BLURB score is the mean of the types' means."""

_registry: Registry[TaskType] = Registry(
    "task type", "blurb.tasks.types", "TYPE", "blurb.task_types", "blurb.tasks:TaskType"
)


def names() -> list[str]:
    """Names of all types: BLURB's six in the paper's order, then `classification` and plug-ins."""
    return [*TYPES, *(name for name in _registry.names() if name not in TYPES)]


def get(name: str) -> TaskType:
    """Returns the declaration of a type; raises `blurb.messages.errors.UnknownName` if there is none."""
    target = _registry.built_in.get(name, "")
    # A built-in type does not wait for installed ones to be looked up.
    return _registry.load_target(target) if target else _registry.get(name)
