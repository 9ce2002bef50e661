"""What is measured: a registry of tasks, one declaration file a dataset. Nothing here loads torch."""

from __future__ import annotations

from collections.abc import Iterable

from blurb.errors import SettingsError, UnknownName
from blurb.registry import Registry
from blurb.tasks._task import SPLITS, TYPES, Source, Split, Task, TaskType, tsv_files

__all__ = ["SPLITS", "TYPES", "Source", "Split", "Task", "TaskType", "all", "get", "origin", "select", "tsv_files"]

_registry: Registry[Task] = Registry("task", "blurb.tasks", "TASK", "blurb.tasks")


def get(name: str) -> Task:
    """The task called `name`; UnknownName with the closest name if there is none."""
    task = _registry.get(name)
    if not isinstance(task, Task):
        raise SettingsError(f"{name} is a {type(task).__name__}, not a blurb.tasks.Task.")
    return task


def origin(name: str) -> str:
    """The file in which a task is declared."""
    return _registry.origin(name)


def all() -> list[Task]:
    """Every task: the thirteen in the paper's order, then the plug-ins by name."""
    return sorted((get(name) for name in _registry.names()), key=lambda task: (task.row or 99, task.name))


def select(wanted: str | Iterable[str]) -> list[Task]:
    """Tasks from names, types or `all` (a comma-separated string or several), each once, in the paper's order.

    `all` means the thirteen of BLURB; a plug-in is asked for by its name.
    """
    words = wanted.split(",") if isinstance(wanted, str) else list(wanted)
    every = all()
    chosen: set[str] = set()
    for word in (word.strip() for word in words):
        if not word:
            continue
        if word == "all":
            chosen |= {task.name for task in every if task.row}
        elif word in TYPES:
            chosen |= {task.name for task in every if task.type == word and task.row}
        elif any(task.name == word for task in every):
            chosen.add(word)
        else:
            raise UnknownName("task", word, [task.name for task in every] + [*TYPES, "all"])
    if not chosen:
        raise SettingsError("No task is selected; give names, types or 'all', separated by commas.")
    return [task for task in every if task.name in chosen]
