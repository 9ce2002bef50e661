"""The registry of tasks: one TOML file a dataset in this folder, and entry points. Nothing here imports torch."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from blurb.messages import SettingsError, UnknownName, fold_name, notify, opt
from blurb.names import file_beside, resolve_name
from blurb.registry import Registry
from blurb.tasks import _file, types
from blurb.tasks._file import of_fields
from blurb.tasks._task import SCORED, SPLITS, Download, ScoredSplit, Source, Split, Task, tsv_files
from blurb.tasks.types import TYPES, TaskType

__all__ = [
    "SCORED",
    "SPLITS",
    "TWELVE",
    "TYPES",
    "UNREGISTERED",
    "Download",
    "ScoredSplit",
    "Source",
    "Split",
    "Task",
    "TaskType",
    "all",
    "get",
    "load",
    "load_selection",
    "of_declaration",
    "origin",
    "select_tasks",
    "selections",
    "to_read",
    "tsv_files",
    "types",
]

SUFFIX = ".toml"
UNREGISTERED = "bioasq"
"""The dataset of BLURB that needs a registration."""
TWELVE = "blurb-12"
"""The other twelve: a selection of tasks, and the mean of their task-type means."""
SEVERAL = {
    "bc5cdr": "bc5-chem,bc5-disease",
    "bc5": "bc5-chem,bc5-disease",
    "blurb": "all",
    "sts": "similarity",
    "re": "relation",
}
"""Names that other tools give to a task or several."""
RESERVED = ("rows", TWELVE)
"""No task may have one of these names: that of a folder in the store, of a selection."""


@cache
def _load_shipped(path: str) -> Task:
    return _file.load(Path(path), shipped=True)


class _Tasks(Registry[Task]):
    """Tasks by entry point, and the files of this folder, each read when its task is asked for."""

    @cached_property
    def built_in(self) -> dict[str, str]:
        return {
            file.stem: str(file)
            for folder in __path__
            for file in sorted(Path(folder).glob(f"*{SUFFIX}"))
        }

    def get(self, name: str) -> Task:
        return _load_shipped(self.built_in[name]) if name in self.built_in else super().get(name)


_registry = _Tasks("task", "", "", "blurb.tasks", "blurb.tasks:Task")
_files: dict[str, Task] = {}
"""Tasks from task files that this process has loaded, by name."""


def load(reference: str) -> Task:
    """The task that a person typed: its name, or its task file, which ends in `.toml`.

    :raises UnknownName: if there is no such task; suggests the closest name
    """
    return _from_file(Path(reference)) if reference.endswith(SUFFIX) else get(reference)


def get(name: str) -> Task:
    """The task of a name, wherever that was read: registered, or of a task file that was loaded; nothing is opened.

    :raises UnknownName: if there is no such task; suggests the closest name
    """
    if name not in _registry.built_in:
        name = resolve_name(name, {*_files, *_registry.entries})
    if name in _files:
        return _files[name]
    if fold_name(name) in SEVERAL:
        raise UnknownName("task", name, _registry.names(), SEVERAL)
    task = _registry.get(name)
    where = _registry.built_in.get(name) or _registry.entries[name].source
    check_name(task.name, f"the task {name} of {where}")
    if task.name != name:
        raise SettingsError(f"The task {name} of {where} calls itself {task.name}.")
    return task


def check_name(name: str, where: str) -> None:
    """Raises SettingsError if no task can have this name; it is also the name of a folder in the run store.

    :param where: start of the message: the file or plug-in with this name
    """
    if name in RESERVED:
        raise SettingsError(
            f"the name {name!r} is reserved",
            where=where,
            fix=f"choose another one, for example 'my-{name}'.",
        )
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name):
        raise SettingsError(
            f"a name must contain only lower-case letters, digits and hyphens, for example 'my-corpus' (got {name!r}).",
            where=where,
        )


def check_free(name: str, where: str) -> None:
    """Raises SettingsError if no task file can have this name: as `check_name`, or another task has it."""
    check_name(name, where)
    if name in _registry.names():
        raise SettingsError(
            f"there is already a task {name} ({origin(name)})",
            where=where,
            fix="choose another name.",
        )
    if name in ("all", TWELVE, *types.names()):
        raise SettingsError(
            f"'{name}' is a word for several datasets", where=where, fix="choose another name."
        )


def _from_file(path: Path) -> Task:
    task = _file.load(path)
    check_free(task.name, str(path))
    if task.name not in _files and (same := _file.alike_labels(task.labels)):
        notify(f"{path}: these labels differ by blanks or case only: {', '.join(same)}.")
    known = _files.setdefault(task.name, task)
    if known.file != task.file:
        raise SettingsError(
            f"{known.file} already declares a task {task.name}",
            where=path,
            fix="choose another name.",
        )
    _files[task.name] = task
    return task


def origin(name: str) -> str:
    """The file that declares a task."""
    task = get(name)
    return task.file or _registry.built_in.get(task.name) or _registry.origin(task.name)


def known_task(name: str) -> Task | None:
    """The task of a name, None if there is none, or only a plug-in that is broken."""
    return _files[name] if name in _files else _registry.known(name, get)


def of_declaration(content: Mapping[str, Any], where: str) -> Task:
    """The task that a stored trial or model declares. What runs code is of the registered task of its name, or none.

    :param where: start of messages
    :raises StoreError: if the content is no declaration
    """
    name = content.get("name")
    return of_fields(content, _registry.known(name, get) if isinstance(name, str) else None, where)


def to_read(task: Task) -> Task:
    """The task whose data is to be read: paths that a stored declaration names are not, its file must be typed."""
    if task.file and task.name not in _files:
        raise SettingsError(
            f"The examples are those of the task file {task.file}. A file that a store or model names is not opened",
            fix=f"type it: {opt('task', shlex.quote(task.file))}",
        )
    return _files[task.name] if task.file else task


def all() -> list[Task]:
    """All tasks: the thirteen in the paper's order, then plug-ins and loaded task files by name."""
    return _in_order({**_registry.usable(get), **_files}.values())


def _in_order(chosen: Iterable[Task]) -> list[Task]:
    return sorted(chosen, key=lambda task: (task.paper_order or 99, task.name))


def load_selection(wanted: str | Iterable[str]) -> list[Task]:
    """Select tasks as typed: names as in `select`, and task files by path."""
    return select_tasks(
        load(word.strip()).name if word.strip().endswith(SUFFIX) else word
        for word in _words_of(wanted)
    )


def selections() -> list[str]:
    """The words that `select` knows: names of tasks, types, `all` and `blurb-12`; no task is read."""
    return [*_registry.names(), *_files, *types.names(), "all", TWELVE]


def _words_of(wanted: str | Iterable[str]) -> list[str]:
    return wanted.split(",") if isinstance(wanted, str) else list(wanted)


def select_tasks(wanted: str | Iterable[str]) -> list[Task]:
    """Selects tasks by name, type, `all` or `blurb-12`; returns each once, in the paper's order.

    `all`, `blurb-12` (all but BioASQ) and the types select only from the thirteen of BLURB. Give plug-ins by name.

    :param wanted: comma-separated text, or several words
    """
    words = _words_of(wanted)  # may load task files
    known = selections()
    chosen: dict[str, Task] = {}
    for word in (resolve_name(word.strip(), known) for word in words):
        if word in ("all", TWELVE, *types.names()):
            of_blurb = (
                task for task in all() if task.paper_order and word in ("all", TWELVE, task.type)
            )
            chosen |= {
                task.name: task
                for task in of_blurb
                if not (word == TWELVE and task.name == UNREGISTERED)
            }
        elif word in known or word in _registry.faults:
            chosen[word] = get(word)
        elif word:
            names = [*(task.name for task in all()), *types.names(), "all", TWELVE]
            raise UnknownName("task", word, names, SEVERAL, file_beside(word))
    if not chosen:
        raise SettingsError(
            "No task is selected", fix="give task names, types or 'all', separated by commas."
        )
    return _in_order(chosen.values())
