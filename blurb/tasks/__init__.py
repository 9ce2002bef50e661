"""The registry of tasks: one TOML file a dataset in this folder, and entry points. Nothing here imports torch."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from blurb.messages import SettingsError, UnknownName, fold_name, notify, opt
from blurb.names import TASK, file_beside, resolve_name
from blurb.registry import Registry
from blurb.tasks import _file, _suites, types
from blurb.tasks._suites import Suite
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
    "Suite",
    "Task",
    "TaskType",
    "all",
    "get",
    "is_of",
    "load",
    "load_selection",
    "load_suite",
    "of_declaration",
    "origin",
    "select_tasks",
    "selections",
    "suite_of",
    "to_read",
    "tsv_files",
    "types",
    "words_of",
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
"""Tasks from task files and suites that this process has loaded, by name."""
_loaded = {
    "blurb": Suite("blurb", "The BLURB datasets"),
    "demo": Suite("demo", "The synthetic demo suite", "demo"),
}
"""Suites by name. The tasks of these two are the thirteen, which no other suite can have."""


def load_suite(reference: str | Path) -> Suite:
    """The suite that a person typed or a row names, whose tasks are then known by name, too.

    :param reference: `blurb`, `demo`, the name of another suite that is loaded or comes with blurb, or a folder
    :raises UnknownName: if it is none of these
    :raises SettingsError: if a file of the folder has a fault, or a name is taken; nothing is loaded then
    :raises ErrorGroup: if there are several
    """
    name = str(reference)
    suite = _loaded[name] if name in _loaded else _read_suite(name)
    _files.update({task.name: task for task in suite.tasks})
    _loaded[suite.name] = suite
    return suite


def suite_of(name: str) -> Suite:
    """The suite that a row or a model names; no folder is opened, whatever it names.

    :raises UnknownName: if none of that name was typed before, or comes with blurb
    """
    if name not in suite_names():
        raise UnknownName(
            "suite",
            name,
            suite_names(),
            how=f" Its folder must be typed: {opt('suite', 'FOLDER')} (docs/suites.md).",
        )
    return load_suite(name)


def suite_names() -> list[str]:
    """The names of the suites that are loaded or come with blurb."""
    return list(dict.fromkeys([*_loaded, *_suites.shipped_names()]))


def _read_suite(name: str) -> Suite:
    shipped = _suites.shipped_names()
    folder = ((_suites.SHIPPED if name in shipped else Path()) / name).resolve()
    if not (folder / _suites.FILE).is_file():
        lacks = f"The folder {name} has no" if folder.is_dir() else "A suite is also a folder with"
        raise UnknownName(
            "suite", name, suite_names(), how=f" {lacks} {_suites.FILE} (docs/suites.md)."
        )
    suite = _suites.read_suite(folder, _check_own)
    other = _suites.SHIPPED / suite.name if suite.name in shipped else folder
    if _loaded.get(suite.name, suite).folder != folder or other != folder:
        raise SettingsError(
            f"there is another suite {suite.name}",
            where=folder / _suites.FILE,
            fix="choose another name.",
        )
    return suite


def suite_title(name: str) -> str:
    """The title of a suite that is known here; of others, of which a row tells, the name."""
    return load_suite(name).title if name in suite_names() else name


def load(reference: str) -> Task:
    """The task that a person typed: its name, or its task file, which ends in `.toml`.

    :raises UnknownName: if there is no such task; suggests the closest name
    """
    return _from_file(Path(reference)) if reference.endswith(SUFFIX) else get(reference)


def get(name: str) -> Task:
    """The task of a name, wherever that was read: registered, or of a task file that was loaded; nothing is opened.

    :raises UnknownName: if there is no such task; suggests the closest name
    """
    shipped = _suites.shipped_files()
    if name not in _registry.built_in:
        name = resolve_name(name, {*_files, *_registry.entries, *shipped})
    if name in shipped:
        load_suite(shipped[name].parent.name)
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
    if not TASK.fullmatch(name):
        raise SettingsError(
            f"a name must contain only lower-case letters, digits and hyphens, for example 'my-corpus' (got {name!r}).",
            where=where,
        )


def check_free(name: str, where: str, suite: str = "") -> None:
    """Raises SettingsError if no task file can have this name: as `check_name`, or another task has it.

    :param suite: whose task it is
    """
    check_name(name, where)
    taken = _suites.shipped_files().get(name)
    if name in _registry.names() or (taken and taken.parent.name != suite):
        raise SettingsError(
            f"there is already a task {name} ({origin(name)})",
            where=where,
            fix="choose another name.",
        )
    if name in ("all", TWELVE, *types.names()):
        raise SettingsError(
            f"'{name}' is a word for several datasets", where=where, fix="choose another name."
        )


def _check_own(task: Task, where: Path) -> None:
    """Raises SettingsError if a task cannot have its name, or another file that was loaded declares one."""
    check_free(task.name, str(where), task.suite)
    known = _files.get(task.name, task)
    if task.suite and task.name != where.stem:
        raise SettingsError(
            f"the task calls itself {task.name}, and a task of a suite has the name of its file",
            where=where,
            fix=f"rename it {task.name}{SUFFIX}.",
        )
    if known.file != task.file:
        raise SettingsError(
            f"{known.file} already declares a task {task.name}",
            where=where,
            fix="choose another name.",
        )
    for other in (*all(), *_files.values()):
        theirs = _places(other) if other.name != task.name else {}
        if taken := [
            path for path, mark in _places(task).items() if theirs.get(path, mark) != mark
        ]:
            raise SettingsError(
                f"{taken[0]} is a file of the task {other.name}, which would be written over",
                where=where,
                fix="choose another path.",
            )


def _places(task: Task) -> dict[str, str]:
    """What blurb writes for a task, by path below the data folder or that of the originals; and which file it is."""
    built = dict.fromkeys(task.files.values(), task.name) if task.builder else {}
    downloads = task.source.downloads if task.source else ()
    return built | {each.path: each.sha256 or each.url for each in downloads}


def _from_file(path: Path) -> Task:
    if (path.parent / _suites.FILE).is_file():  # also in a worker, which was given nothing else
        own = {task.name: task for task in load_suite(path.parent).tasks}
        return own.get(path.stem) or _file.load(path)
    task = _file.load(path)
    _check_own(task, path)
    if task.name not in _files and (same := _file.alike_labels(task.labels)):
        notify(f"{path}: these labels differ by blanks or case only: {', '.join(same)}.")
    _files[task.name] = task
    return task


def origin(name: str) -> str:
    """The file that declares a task."""
    task = get(name)
    shipped = {**_registry.built_in, **_suites.shipped_files()}
    return task.file or str(shipped.get(task.name) or _registry.origin(task.name))


def known_task(name: str) -> Task | None:
    """The task of a name, None if there is none, or only a plug-in that is broken."""
    if name in _files or name in _suites.shipped_files():
        return get(name)
    return _registry.known(name, get)


def of_declaration(content: Mapping[str, Any], where: str) -> Task:
    """The task that a stored trial or model declares. What runs code is of the registered task of its name, or none.

    :param where: start of messages
    :raises StoreError: if the content is no declaration
    """
    name, suite = content.get("name"), content.get("suite", "")
    known = known_task(name) if isinstance(name, str) else None
    is_same = known is not None and known.suite == suite and (suite or not known.file)
    return _file.of_fields(content, known if is_same else None, where)


def to_read(task: Task) -> Task:
    """The task whose data is to be read: paths that a stored declaration names are not, its file must be typed."""
    if not task.is_declared:
        return task
    known = known_task(task.name)
    if known is None or not known.is_declared or known.suite != task.suite:
        whose = f"suite {task.suite}" if task.suite else f"task file {task.file}"
        file = f"FOLDER/{task.name}{SUFFIX}" if task.suite else task.file
        raise SettingsError(
            f"The examples are those of the {whose}. A file that a store or model names is not opened",
            fix=f"type it: {opt('task', shlex.quote(file))}",
        )
    return known


def all() -> list[Task]:
    """All tasks: the thirteen in the paper's order, then plug-ins and loaded task files by name."""
    return _in_order({**_registry.usable(get), **_files}.values())


def _in_order(chosen: Iterable[Task]) -> list[Task]:
    return sorted(chosen, key=lambda task: (task.paper_order or 99, task.name))


def load_selection(wanted: str | Iterable[str], suite: str | None = None) -> list[Task]:
    """Select tasks as typed: names as in `select_tasks`, and task files by path."""
    return select_tasks(
        (
            load(word.strip()).name if word.strip().endswith(SUFFIX) else word
            for word in words_of(wanted)
        ),
        suite,
    )


def select_names(
    wanted: str | Iterable[str], own: Collection[str], typed: bool = False
) -> list[str]:
    """The names of datasets of rows, which may have some that no task declares here.

    :param own: datasets of the rows
    :param typed: whether a person typed them, and may name task files; what a file names is not opened
    """
    words = [resolve_name(word.strip(), own) for word in words_of(wanted)]
    foreign = [word for word in words if word in own and word not in selections()]
    known = [word for word in words if word not in foreign]
    select = load_selection if typed else select_tasks
    chosen = select(known) if known or not words else []
    return [*(task.name for task in chosen), *foreign]


def selections() -> list[str]:
    """The words that `select_tasks` knows: names of tasks, types, `all` and `blurb-12`; no task is read."""
    return [*_registry.names(), *_files, *types.names(), "all", TWELVE]


def words_of(wanted: str | Iterable[str]) -> list[str]:
    """The names of tasks as typed: separated by commas, or a list."""
    return wanted.split(",") if isinstance(wanted, str) else list(wanted)


def select_tasks(wanted: str | Iterable[str], suite: str | None = None) -> list[Task]:
    """Selects tasks by name, type, `all` or `blurb-12`; returns each once, in the paper's order.

    `all`, `blurb-12` (all but BioASQ) and the types select only from the thirteen of BLURB, or from another suite. Give
    plug-ins by name.

    :param wanted: comma-separated text, or several words
    :param suite: of all these tasks; None for the thirteen, and any others by name
    """
    words = list(words_of(wanted))  # may load task files
    own = () if suite is None else load_suite(suite).tasks
    known = selections()
    chosen: dict[str, Task] = {}
    for word in (resolve_name(word.strip(), known) for word in words):
        if word in ("all", TWELVE, *types.names()):
            whole = own if word != TWELVE and own else [task for task in all() if task.paper_order]
            chosen |= {
                task.name: task
                for task in whole
                if word in ("all", TWELVE, task.type)
                and not (word == TWELVE and task.name == UNREGISTERED)
            }
        elif word in known or word in _registry.faults or word in _suites.shipped_files():
            chosen[word] = get(word)
        elif word:
            names = [*(task.name for task in all()), *types.names(), "all", TWELVE]
            raise UnknownName("task", word, names, SEVERAL, file_beside(word))
    if not chosen:
        raise SettingsError(
            "No task is selected", fix="give task names, types or 'all', separated by commas."
        )
    if suite is not None:
        _check_belong(chosen.values(), load_suite(suite))
    return _in_order(chosen.values())


def is_of(task: Task, suite: str) -> bool:
    """Whether a suite may have a task: its own, and those of plug-ins and task files where it is `blurb` or `demo`."""
    whole = load_suite(suite)
    return task.suite == (whole.name if whole.tasks else "")


def _check_belong(chosen: Iterable[Task], suite: Suite) -> None:
    for task in chosen:
        if not is_of(task, suite.name):
            owner = task.suite or "blurb"
            raise SettingsError(
                f"The task {task.name} is of the suite {owner}, not of {suite.name}",
                fix=f"leave it out, or give {opt('suite', owner)}.",
            )
