"""Schemas of typed records: each way to write a type, and what is told of a key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from jsonschema import Draft202012Validator

from blurb.records import Count, Probability, Rule, record_columns
from tests.golden.schemas import schema


class Colour(StrEnum):
    RED = "red"


class Inner(TypedDict, total=False):
    """An inner thing.

    With more about it.
    """

    first: Annotated[int, "one"]


class Outer(TypedDict):
    inner: Annotated[Inner | None, "may be there"]
    later: NotRequired[Annotated[str, "with --later"]]


class Wider(Outer):
    more: Annotated[bool, "more"]


@dataclass(frozen=True)
class Base:
    """A base.

    :param size: how large it is,
        in bytes
    """

    size: Count


@dataclass(frozen=True)
class Derived(Base):
    """A thing.

    :param name: its name
    """

    name: str = ""


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (int, {"type": "integer"}),
        (float | None, {"type": ["number", "null"]}),
        (Count | None, {"type": ["integer", "null"], "minimum": 0}),
        (
            Annotated[Probability, "p"],
            {"type": "number", "minimum": 0, "maximum": 1, "description": "p"},
        ),
        (Literal["a", "b"], {"enum": ["a", "b"]}),
        (Literal["a"] | None, {"enum": ["a", None]}),
        (Colour, {"enum": ["red"]}),
        (Sequence[str], {"type": "array", "items": {"type": "string"}}),
        (tuple[int, ...] | str, {"type": ["array", "string"], "items": {"type": "integer"}}),
        (list[int] | tuple[str, ...], {"anyOf": [schema(list[int]), schema(list[str])]}),
        (Mapping[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (
            dict[Literal["dev"], bool],
            {
                "type": "object",
                "propertyNames": {"enum": ["dev"]},
                "additionalProperties": {"type": "boolean"},
            },
        ),
        (
            list[Annotated[str, Rule("pattern", "^a")]],
            {"type": "array", "items": {"type": "string", "pattern": "^a"}},
        ),
    ],
)
def test_each_type_has_its_schema(kind: Any, expected: dict[str, Any]) -> None:
    assert schema(kind) == expected
    Draft202012Validator.check_schema(schema(kind))


def test_records_are_closed_and_every_key_is_told() -> None:
    assert record_columns(Wider) == ("inner", "later", "more")
    found = schema(Wider)
    assert found["additionalProperties"] is False
    assert found["required"] == ["inner", "more"]
    assert found["properties"]["later"] == {"type": "string", "description": "with --later"}
    inner = found["properties"]["inner"]
    assert (inner["type"], inner["description"], inner["required"]) == (
        ["object", "null"],
        "may be there",
        [],
    )
    assert schema(Inner)["description"] == "An inner thing."


def test_of_a_dataclass_the_docstrings_tell() -> None:
    assert record_columns(Derived) == ("size", "name")
    found = schema(Derived)
    assert found["description"] == "A thing."
    assert found["properties"] == {
        "size": {"type": "integer", "minimum": 0, "description": "how large it is, in bytes"},
        "name": {"type": "string", "description": "its name"},
    }
    assert found["required"] == ["size", "name"]
