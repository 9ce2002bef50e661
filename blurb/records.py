"""Records that commands print as JSON; their JSON Schemas are in `blurb/schemas` (docs/json.md).

A record is a `TypedDict` or a dataclass beside the code that makes it. `Annotated` says what a key is, as a text, where
its value comes from (`From`), and rules in JSON Schema's own words; of a dataclass the `:param` lines of its docstring
serve as well.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from pathlib import Path
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class Rule:
    """A word of JSON Schema beyond types, such as `minimum`, in `Annotated`."""

    word: str
    value: object


@dataclass(frozen=True)
class From:
    """The source of a key that is not the attribute of its name, in `Annotated`.

    :param source: path of attributes and places, such as `interval.0`, which ends at None; or a function of the object
        that the record is made of
    :param digits: of a rounded number, without the noise of sums of floats: 76.6894 and not 76.68939999999999
    """

    source: str | Callable[[Any], object]
    digits: int | None = None

    def __call__(self, of: Any) -> Any:
        value: Any = follow(self.source, of) if isinstance(self.source, str) else self.source(of)
        return value if self.digits is None or value is None else round(value, self.digits)


def follow(path: str, of: Any) -> Any:
    """The value at the end of a path of attributes, keys and places; None if one of them is None, or not there."""
    for part in path.split("."):
        place = int(part) if part.isdecimal() else part
        if isinstance(of, Mapping):
            of = of.get(place)
        elif of is not None:
            of = of[place] if isinstance(place, int) else getattr(of, part)
    return of


Count = Annotated[int, Rule("minimum", 0)]
Probability = Annotated[float, Rule("minimum", 0), Rule("maximum", 1)]


def record_columns(record: type) -> tuple[str, ...]:
    """The keys of a record, in the order in which they are printed."""
    return (
        tuple(field.name for field in fields(record))
        if is_dataclass(record)
        else tuple(record.__annotations__)
    )


def of(record: type, source: Any) -> dict[str, Any]:
    """The record of an object: each key is its attribute of that name, or what `From` says; records within likewise."""
    return {name: _plain_value(kind, get(source)) for name, kind, get in _keys_of(record)}


@functools.cache
def _keys_of(record: type) -> tuple[tuple[str, Any, From], ...]:
    """Name, type and source of each key."""
    keys = []
    for name, hint in get_type_hints(record, include_extras=True).items():
        kind, *about = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        keys.append(
            (name, kind, next((each for each in about if isinstance(each, From)), From(name)))
        )
    return tuple(keys)


def _plain_value(kind: Any, value: Any) -> Any:
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) is list:
        return [_plain_value(get_args(kind)[0], each) for each in value]
    inner = next((each for each in (kind, *get_args(kind)) if is_typeddict(each)), NoneType)
    if value is not None and inner is not NoneType and not isinstance(value, Mapping):
        return of(inner, value)
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return (
        str(value)
        if isinstance(value, Path)
        else dict(value)
        if isinstance(value, Mapping)
        else value
    )


def make_frame(content: Any, columns: tuple[str, ...] | list[str] | None = None) -> DataFrame:
    """A table of pandas, which is imported for the first one.

    :param content: lines, or columns by name
    """
    from pandas import DataFrame

    return DataFrame(content, columns=columns)


class Tabular:
    """A result that a notebook shows as a table."""

    def to_pandas(self) -> DataFrame:
        """The table."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return html_of(self.to_pandas())


class RecordTable(Tabular):
    """A result of lines, each of which is printed as a record."""

    record: ClassVar[type]
    lines: tuple[Any, ...]

    def to_pandas(self) -> DataFrame:
        """A line each, with the columns that the command prints as CSV."""
        return make_frame(
            [of(self.record, line) for line in self.lines], record_columns(self.record)
        )


def html_of(table: DataFrame) -> str:
    """A table for a notebook."""
    return str(table.to_html(index=False, na_rep="", float_format="{:.2f}".format, border=0))
