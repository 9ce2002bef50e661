"""Tasks as stored trials and models declare them: they come from anybody, so that none of their texts names code."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any

from blurb.messages.errors import StoreError
from blurb.tasks._task import SPLITS, Task

CODE = ("reader", "original", "builder", "source")
"""Fields that run code or say where to get files: never taken from a declaration."""
READER = "blurb.data.readers.task_file:read"
"""The reader of every task file."""
TEXTS = ("name", "title", "type", "metric", "unit", "licence", "homepage", "citation", "explanation", "file")
TABLES = ("files", "metric_options", "sizes", "released", "layout", "hashes")
NUMBERS = ("seeds", "max_length")


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
    for names, kind in ((TEXTS, str), (TABLES, dict), (NUMBERS, int)):
        for name in names:
            if name in declared and type(declared[name]) is not kind:
                raise _wrong(where, name, kind.__name__)
    if not _are_texts(declared["labels"]):
        raise _wrong(where, "labels", "list of texts")
    if not all(isinstance(declared["files"].get(split), str) for split in SPLITS):
        raise StoreError("the declaration of the task has no file of every split.", where=where)
    _check_options(declared.get("metric_options", {}), where)
    code = {} if registered is None else {name: getattr(registered, name) for name in CODE}
    return Task(**{**declared, "reader": READER, **code})


def _check_options(options: Mapping[str, Any], where: str) -> None:
    """What analyses and metrics take as it is. Options that only a metric of one's own has are left to it."""
    for name, value in options.items():
        fits, kind = OPTIONS.get(name, (lambda _: True, ""))
        if not fits(value):
            raise _wrong(where, f"metric_options: {name}", kind)
    if not options.get("low", -math.inf) < options.get("high", math.inf):
        raise StoreError(
            "in the declaration of the task, 'low' must be less than 'high' (metric_options).", where=where
        )


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e300


def _are_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)


def _wrong(where: str, name: str, kind: str) -> StoreError:
    return StoreError(f"'{name}' in the declaration of the task must be of type {kind}.", where=where)


OPTIONS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "labels": (_are_texts, "list of texts"),
    "negative": (lambda value: isinstance(value, str), "str"),
    "positive": (lambda value: isinstance(value, str), "str"),
    "low": (_is_number, "number"),
    "high": (_is_number, "number"),
    "strict": (lambda value: isinstance(value, bool), "bool"),
}
"""Options of the metrics -> whether a value is of the kind of the option, and that kind."""
