"""The training settings of baselines that have their own: `[baselines.NAME]` of a protocol's file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from blurb import tasks
from blurb.fields import Field
from blurb.protocols.settings import FIELDS, TABLE

Tables = Mapping[tuple[str, str], Mapping[str, Any]]
"""Settings by baseline and task or task type; "" is all tasks."""


def table() -> Field:
    """`[baselines.NAME]` and `[baselines.NAME.tasks.TASK]`, where TASK may be a task type."""
    by_task = dict.fromkeys((*tasks.TYPES, *(task.name for task in tasks.all())), TABLE)
    return Field(
        dict, keys=replace(TABLE, keys={**FIELDS, "tasks": Field(dict, keys=by_task, noun="task")})
    )


def by_task(values: Mapping[str, Mapping[str, Any]]) -> Tables:
    """The settings of such a table."""
    tables = {}
    for name, own in values.items():
        tables[name, ""] = {key: value for key, value in own.items() if key != "tasks"}
        tables |= {(name, task): settings for task, settings in own.get("tasks", {}).items()}
    return tables


def of(tables: Tables, baseline: str, task: tasks.Task) -> dict[str, Any]:
    """The settings of a baseline for a task: those of the task over those of its type."""
    return {
        name: value
        for part in ("", task.type, task.name)
        for name, value in tables.get((baseline, part), {}).items()
    }
