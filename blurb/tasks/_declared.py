"""Tasks as stored trials and models declare them: they come from anybody, so that none of their texts names code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from blurb.messages.errors import StoreError
from blurb.system.files import check_types
from blurb.tasks._file import LIMIT, READER, SHIPPED, is_scale
from blurb.tasks._task import SPLITS, Task

CODE = ("reader", "original", "builder", "source")
"""Fields that run code or say where to get files: never taken from a declaration."""
TYPES: Mapping[str, type | tuple[type, ...]] = {
    **{name: key.kind for name, key in SHIPPED.items() if name != "paper_order"},  # which may be null
    **dict.fromkeys(("metric_options", "layout"), dict),
    "labels": (list, tuple),
    "file": str,
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
    if not is_scale([options.get("low", -LIMIT), options.get("high", LIMIT)]):
        raise StoreError("'low' in the declaration of the task must be less than 'high'.", where=where)
    code = {} if registered is None else {name: getattr(registered, name) for name in CODE}
    return Task(**{**declared, "reader": READER, **code})
