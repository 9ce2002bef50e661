"""Tasks as stored trials and models declare them: they come from anybody, so that none of their texts names code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any

from blurb.messages.errors import StoreError
from blurb.system.files import check_types
from blurb.tasks._task import SPLITS, Task

CODE = ("reader", "original", "builder", "source")
"""Fields that run code or say where to get files: never taken from a declaration."""
READER = "blurb.data.readers.task_file:read"
"""The reader of every task file."""
TYPES: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("name", "title", "type", "metric", "unit", "licence", "homepage", "citation"), str),
    **dict.fromkeys(("explanation", "file"), str),
    **dict.fromkeys(("files", "metric_options", "sizes", "released", "layout", "hashes", "short_labels"), dict),
    **dict.fromkeys(("seeds", "max_length"), int),
    "labels": (list, tuple),
}
OPTIONS: Mapping[str, type | tuple[type, ...]] = {
    "labels": (list, tuple),
    "negative": str,
    "positive": str,
    "low": (int, float),
    "high": (int, float),
    "strict": bool,
}
"""Options of the metrics, which analyses take as they are. Those that only a metric of one's own has are left to it."""
MOST = 1e300
"""Bound of a score, in which differences of scores are finite."""


def is_scale(bounds: Sequence[Any]) -> bool:
    """Whether these are the lowest and the highest score."""
    numbers = all(type(bound) in (int, float) and -MOST < bound < MOST for bound in bounds)
    return len(bounds) == 2 and numbers and bounds[0] < bounds[1]


def of_fields(content: Mapping[str, Any], registered: Task | None, where: str) -> Task:
    """The task of the fields of a declaration; fields that this version does not know are left out.

    :param registered: the task of this name that is registered, whose code is used
    :param where: start of messages
    :raises StoreError: if a field is missing or of the wrong type
    """
    known = {one.name: one for one in fields(Task)}
    declared = {name: value for name, value in content.items() if name in known and name not in CODE}
    for name, one in known.items():
        if name not in declared and name not in CODE and one.default is one.default_factory is MISSING:
            raise StoreError(f"the declaration of the task has no '{name}'.", where=where)
    options = declared.get("metric_options", {})
    check_types(declared, TYPES, where)
    check_types(options, OPTIONS, f"{where}, metric_options")
    if not all(isinstance(label, str) for label in (*declared["labels"], *options.get("labels", ()))):
        raise StoreError("'labels' in the declaration of the task must be a list of texts.", where=where)
    if not all(isinstance(declared["files"].get(split), str) for split in SPLITS):
        raise StoreError("the declaration of the task has no file of every split.", where=where)
    if not is_scale([options.get("low", -MOST / 2), options.get("high", MOST / 2)]):
        raise StoreError("'low' in the declaration of the task must be less than 'high'.", where=where)
    code = {} if registered is None else {name: getattr(registered, name) for name in CODE}
    return Task(**{**declared, "reader": READER, **code})
