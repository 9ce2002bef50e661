"""Suites: a folder with `suite.toml` and a task file a dataset, ours (`suites/NAME/` here) or a user's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from blurb import names
from blurb.fields import Field, read_table
from blurb.messages import ErrorCollector, SettingsError
from blurb.system import text_files
from blurb.tasks import _file
from blurb.tasks._task import Task

FILE = "suite.toml"
SHIPPED = Path(__file__).resolve().parent / "suites"
NAME = Field(
    str,
    must="have only lower-case letters, digits and hyphens, for example 'my-suite'",
    rule=lambda name: names.TASK.fullmatch(name) is not None,
)
KEYS: Mapping[str, Field] = {
    "name": replace(NAME, required=True),
    "title": Field(str, required=True),
    "protocol": NAME,  # never a file, which could name code
}


@dataclass(frozen=True)
class Suite:
    """Datasets that are measured together; rows of two suites never share a table.

    :param name: stands in rows, and after `--suite`
    :param title: for people
    :param protocol: of its runs unless another one is asked for
    :param folder: its own, absolute
    :param tasks: in the order of their names; none of `blurb` and `demo`, which have the thirteen
    """

    name: str
    title: str
    protocol: str = "standard"
    folder: Path | None = None
    tasks: tuple[Task, ...] = ()


@cache
def shipped_files() -> Mapping[str, Path]:
    """Task -> its file, of the suites that come with blurb; none is opened."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*/*.toml")) if path.name != FILE}


def shipped_names() -> list[str]:
    """The names of these suites."""
    return sorted({path.parent.name for path in shipped_files().values()})


def read_suite(folder: Path, check: Callable[[Task, Path], None]) -> Suite:
    """The suite in an absolute folder.

    :param check: raises what else is wrong with a task of a file
    :raises BlurbError: the only fault of all its files; `ErrorGroup` if there are more
    """
    errors, content = ErrorCollector(), dict[str, Any]()
    path, shipped = folder / FILE, folder.parent == SHIPPED
    with errors:
        content = read_table(text_files.read_toml(path), Field(dict, keys=KEYS), path, errors)
    read = list[Task]()
    files = [file for file in sorted(folder.glob("*.toml")) if file != path]
    if not files:
        errors.add(SettingsError("has no task file, of which a dataset has one.", where=folder))
    for file in files:
        with errors:
            task = _file.load(file, shipped, content.get("name", "unnamed"))
            check(task, file)
            read.append(task)
    errors.stop()
    return Suite(**content, folder=folder, tasks=tuple(read))
