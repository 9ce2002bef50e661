"""What is measured: a registry of tasks, one declaration file a dataset. Nothing here loads torch."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from blurb.errors import SettingsError, UnknownName
from blurb.registry import Registry
from blurb.tasks import types
from blurb.tasks._task import SPLITS, Download, Source, Split, Task, tsv_files
from blurb.tasks.types import TYPES, TaskType

__all__ = [
    "SPLITS",
    "TYPES",
    "Download",
    "Source",
    "Split",
    "Task",
    "TaskType",
    "all",
    "get",
    "origin",
    "select",
    "tsv_files",
    "types",
]

SUFFIX = ".toml"
RESERVED = ("rows",)
"""Folders that the store has beside those of the tasks (`blurb.runs.rows`)."""
_registry: Registry[Task] = Registry("task", "blurb.tasks", "TASK", "blurb.tasks")


_files: dict[str, Task] = {}
"""Tasks from files, by name, that this process was asked for."""


def get(name: str) -> Task:
    """The task called `name`, or the one that the file `name` (`.toml`) declares.

    :raises UnknownName: with the closest name, if there is none
    """
    if name.endswith(SUFFIX):
        return _from_file(Path(name))
    if name in _files:
        return _files[name]
    task = _registry.get(name)
    if not isinstance(task, Task):
        raise SettingsError(f"{name} is a {type(task).__name__}, not a blurb.tasks.Task.")
    check_name(task.name, f"the task {name} of {_registry.entries[name].source}")
    return task


def check_name(name: str, where: str) -> None:
    """SettingsError if no task can have this name: it is that of a folder of the store beside others.

    :param where: what has it, as the message says it
    """
    if name in RESERVED:
        raise SettingsError(f"{where}: {name!r} is a name of the store's own; choose another one, such as my-{name}.")
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name):
        raise SettingsError(f"{where}: the name {name!r} must consist of small letters, digits and hyphens.")


def _from_file(path: Path) -> Task:
    from blurb.tasks import _file

    task = _file.load(path)
    check_name(task.name, str(path))
    if task.name in _registry.names():
        raise SettingsError(f"{path}: {task.name} is a task already ({origin(task.name)}); choose another name.")
    known = _files.setdefault(task.name, task)
    if known.file != task.file:
        raise SettingsError(f"{path}: {task.name} is the task of {known.file} already; choose another name.")
    _files[task.name] = task
    return task


def origin(name: str) -> str:
    """The file in which a task is declared."""
    task = get(name)
    if task.file:
        return task.file
    return _registry.origin(name)


def all() -> list[Task]:
    """Every task: the thirteen in the paper's order, then the plug-ins and the task files asked for, by name."""
    return sorted(
        (get(name) for name in (*_registry.names(), *_files)), key=lambda task: (task.paper_order or 99, task.name)
    )


def select(wanted: str | Iterable[str]) -> list[Task]:
    """Tasks from names, types, task files or `all` (comma-separated, or several), each once, in the paper's order.

    `all` means the thirteen of BLURB; a plug-in is asked for by its name, a task file by its path.
    """
    words = wanted.split(",") if isinstance(wanted, str) else list(wanted)
    words = [get(word.strip()).name if word.strip().endswith(SUFFIX) else word for word in words]
    every = all()
    chosen: set[str] = set()
    for word in (word.strip() for word in words):
        if not word:
            continue
        if word == "all":
            chosen |= {task.name for task in every if task.paper_order}
        elif word in types.names():
            chosen |= {task.name for task in every if task.type == word and task.paper_order}
        elif any(task.name == word for task in every):
            chosen.add(word)
        else:
            raise UnknownName("task", word, [task.name for task in every] + [*types.names(), "all"])
    if not chosen:
        raise SettingsError("No task is selected; give names, types or 'all', separated by commas.")
    return [task for task in every if task.name in chosen]
