"""The part of JSON Schema (draft 2020-12) that the schemas of a submission use.

The library `jsonschema` would bring four packages for these few keywords; the tests compare with it where it is there.
A keyword that is not known here is an error, so that no schema promises a check that is not made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]
TYPES: dict[str, type | tuple[type, ...]] = {"object": dict, "array": list, "string": str, "number": (int, float)}
SILENT = frozenset({"$schema", "title", "patternProperties"})
"""Keywords without a check of their own; `patternProperties` are looked at with `properties`."""


def violations(value: Any, schema: Schema, where: str = "the file") -> list[str]:
    """What of a value does not fit, as sentences; empty if all does.

    :raises ValueError: if the schema uses a keyword that is not known here
    """
    return list(_walk(value, schema, where))


def _walk(value: Any, schema: Schema, where: str) -> Iterator[str]:
    unknown = schema.keys() - CHECKS.keys() - SILENT - {"properties", "items", "additionalProperties", "type"}
    if unknown:
        raise ValueError(f"no check for the keywords {sorted(unknown)}")
    kind = schema.get("type")
    if kind and (not isinstance(value, TYPES[kind]) or isinstance(value, bool)):
        yield f"{where}: expected {kind}, found {_short(value)}."
        return
    for keyword, (fits, message) in CHECKS.items():
        if keyword in schema and not fits(value, schema[keyword]):
            yield f"{where}: {message.format(_bound(schema[keyword]), found=_found(value, keyword))}."
    if isinstance(value, dict):
        yield from _members(value, schema, where)
    if isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            yield from _walk(item, schema["items"], f"{where}, item {number}")


def _members(value: Mapping[str, Any], schema: Schema, where: str) -> Iterator[str]:
    exact, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for key, item in value.items():
        rules = [exact[key]] if key in exact else []
        rules += [rule for pattern, rule in patterns.items() if re.search(pattern.replace("$", r"\Z"), key)]
        if not rules and schema.get("additionalProperties", True) is False:
            yield f"{where}: {_short(key)} does not belong here; expected {' or '.join([*exact, *patterns])}."
        for rule in rules:
            yield from _walk(item, rule, f"{where}, {key}" if key in exact else f"id {key}")


def _short(value: Any) -> str:
    return f"an {type(value).__name__}" if isinstance(value, dict | list) else repr(value)[:40]


def _bound(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _found(value: Any, keyword: str) -> str:
    return str(len(value)) if keyword.endswith("Properties") else _short(value)


CHECKS: dict[str, tuple[Callable[[Any, Any], bool], str]] = {
    "const": (lambda value, one: bool(value == one), "expected {0}, found {found}"),
    "enum": (lambda value, some: value in some, "expected one of {0}, found {found}"),
    "minimum": (lambda value, low: bool(value >= low), "expected at least {0}, found {found}"),
    "maximum": (lambda value, high: bool(value <= high), "expected at most {0}, found {found}"),
    "minLength": (lambda value, low: len(value) >= low, "expected a text of at least {0} characters"),
    "minItems": (lambda value, low: len(value) >= low, "expected at least {0} items"),
    "uniqueItems": (lambda value, wanted: not wanted or len(set(value)) == len(value), "an item stands there twice"),
    "required": (lambda value, keys: all(key in value for key in keys), "expected the keys {0}"),
    "minProperties": (lambda value, low: len(value) >= low, "expected {0} predictions, found {found}"),
    "maxProperties": (lambda value, high: len(value) <= high, "expected {0} predictions, found {found}"),
}
"""Keyword -> whether a value fits (never asked for a value of another `type`), and what to say if not."""
