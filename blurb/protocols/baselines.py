"""The training settings of baselines that have their own: `[baselines.NAME]` of a protocol's file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from blurb import tasks
from blurb.messages.errors import SettingsError
from blurb.tasks import TYPES, Task

Tables = Mapping[tuple[str, str], Mapping[str, Any]]
"""Settings by baseline and task or task type; "" is all tasks."""


def parse(
    content: Any, where: str, table: Callable[[Any, str], dict[str, Any]], known: Callable[[str, str], str]
) -> Tables:
    """Reads `[baselines.NAME]` and `[baselines.NAME.tasks.TASK]`, where TASK may be a task type.

    :param table: checks a table of settings
    :param known: checks the name of a task
    """
    if not isinstance(content, dict):
        raise SettingsError("[baselines] must be a table.", where=where)
    tables = {}
    for name, values in content.items():
        if not isinstance(values, dict) or not isinstance(values.get("tasks", {}), dict):
            raise SettingsError(f"[baselines.{name}] and its tasks must be tables.", where=where)
        tables[name, ""] = table(
            {key: value for key, value in values.items() if key != "tasks"}, f"{where}, baseline {name}"
        )
        for task, own in values.get("tasks", {}).items():
            tables[name, task if task in TYPES else known(task, where)] = table(
                own, f"{where}, baseline {name}, task {task}"
            )
    return tables


def concerned(part: str) -> list[Task]:
    """The tasks of one of the tables: a task, those of a type, or all for ""."""
    return [task for task in tasks.all() if part in ("", task.type, task.name)]


def of(tables: Tables, baseline: str, task: Task) -> dict[str, Any]:
    """The settings of a baseline for a task: those of the task over those of its type."""
    found: dict[str, Any] = {}
    for part in ("", task.type, task.name):
        found.update(tables.get((baseline, part), {}))
    return found
