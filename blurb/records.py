"""What commands print as JSON: typed records, whose JSON Schemas are in `blurb/schemas` (docs/json.md).

A record is a `TypedDict` or a dataclass beside the code that makes it. `Annotated` says what a key is, as a text, and
rules in JSON Schema's own words; of a dataclass the `:param` lines of its docstring serve as well.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated


@dataclass(frozen=True)
class Rule:
    """A word of JSON Schema beyond types, such as `minimum`, in `Annotated`."""

    word: str
    value: object


Count = Annotated[int, Rule("minimum", 0)]
Probability = Annotated[float, Rule("minimum", 0), Rule("maximum", 1)]


def columns(record: type) -> tuple[str, ...]:
    """The keys of a record, in the order in which they are printed."""
    return tuple(field.name for field in fields(record)) if is_dataclass(record) else tuple(record.__annotations__)
