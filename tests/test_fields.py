"""What a value may be. Oracle: the comparisons themselves, and messages read by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import numpy as np
import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator

from blurb import fields
from blurb.fields import Field, declare_field
from blurb.messages.errors import BlurbError, ErrorCollector, ErrorGroup, SettingsError, UnknownName
from blurb.records import Count, Probability, Rule, record_columns
from tests.golden.schemas import schema

NUMBERS = st.floats(-10, 10) | st.integers(-10, 10)


@given(NUMBERS, *[st.none() | NUMBERS] * 4)
def test_a_number_is_taken_if_and_only_if_it_is_within_its_bounds(
    value: float, low: float | None, above: float | None, below: float | None, most: float | None
) -> None:
    inside = (
        (low is None or value >= low)
        and (above is None or value > above)
        and (below is None or value < below)
        and (most is None or value <= most)
    )
    about = Field(low=low, above=above, below=below, most=most)
    if inside:
        assert about.value("x", value) == value
        assert isinstance(about.value("x", value), float)
    else:
        with pytest.raises(SettingsError, match=r"^x must be (at least|above|below|at most) "):
            about.value("x", value)


@pytest.mark.parametrize(
    ("about", "value", "message"),
    [
        (Field(), "1", "f: x must be a number (got '1')."),
        (Field(), True, "f: x must be a number (got True)."),
        (Field(), float("nan"), "f: x must be a number (got nan)."),
        (Field(), 10**400, f"f: x must be a number (got {'1' + '0' * 59})."),
        (Field(int, low=1), 1.0, "f: x must be a whole number, at least 1 (got 1.0)."),
        (
            Field(int, low=1, most=5000, unit=" points"),
            0,
            "f: x must be at least 1 and at most 5,000 points (got 0).",
        ),
        (Field(above=0, but=(-1.0, "none")), -2, "f: x must be above 0, or -1 for none (got -2)."),
        (Field(int, words=("auto",)), "many", "f: x must be a whole number, or auto (got 'many')."),
        (Field(str, choices=("a", "b")), "c", "f: x must be one of a, b (got 'c')."),
        (Field(str, choices=("a", "b")), 1, "f: x must be a text, one of a, b (got 1)."),
        (
            Field(str, choices=("crf", "linear"), noun="head"),
            "crff",
            "f: There is no head called 'crff'. Did you mean 'crf'?",
        ),
        (Field(bool), 1, "f: x must be true or false (got 1)."),
        (Field(dict), [], "f: x must be a table (got [])."),
        (Field(list, rule=bool, must="have a member"), [], "f: x must have a member (got [])."),
        (fields.TEXTS, [1], "f: x must be a text or a list of texts (got [1])."),
        (Field(optional=False), None, "f: x must be a number (got None)."),
        (Field(str, filled=True), "", "f: x must be a text (got '')."),
        (Field(object, filled=True), [], "f: x must be no empty text or list (got [])."),
        (Field(str), "a\0b", "f: x must be without the character U+0000."),
        (fields.TEXTS, ["a", "a\0b"], "f: x must be without the character U+0000."),
        (Field(object), Path("a\0b"), "f: x must be without the character U+0000."),
    ],
)
def test_what_a_value_must_be_is_said(about: Field, value: Any, message: str) -> None:
    with pytest.raises(BlurbError) as caught:
        about.value("x", value, "f")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("about", "value", "made"),
    [
        (Field(), np.float32(0.5), 0.5),
        (Field(int), np.int64(3), 3),
        (Field(low=0, but=(-1.0, "none")), -1, -1.0),
        (Field(int, words=("auto",)), "auto", "auto"),
        (Field(optional=True), None, None),
        (Field(str, choices=lambda: ["ncbi-disease"]), "NCBI_Disease", "ncbi-disease"),
        (Field(str, many=True, choices=("a", "b")), ["b", "a"], ("b", "a")),
        (Field(str, parse=str.upper), "a", "A"),
    ],
)
def test_a_good_value(about: Field, value: Any, made: Any) -> None:
    assert about.value("x", value) == made


TABLE = Field(
    dict,
    keys={
        "size": Field(int, low=1, required=True),
        "parts": Field(list, rule=lambda parts: all(isinstance(part, dict) for part in parts), must="be tables",
                       keys={"name": Field(str, required=True)}),
        "any": Field(dict, keys=Field(dict, keys={"low": Field()}, parse=lambda table: table["low"])),
    },
    noun="word",
    aliases={"length": "size"},
)  # fmt: skip


def test_a_table_tells_all_its_faults_with_their_places() -> None:
    errors = ErrorCollector()
    content = {
        "length": 3,
        "parts": [{"name": "a"}, {"nam": 1}],
        "any": {"x": {"low": "?"}, "y": {"low": 1}, "z": 3},
    }
    assert fields.read_table(content, TABLE, "f.toml", errors) == {
        "parts": [{"name": "a"}, {}],
        "any": {"y": 1.0},
    }
    assert [str(error).partition(" Available")[0] for error in errors.errors] == [
        "f.toml: There is no word called 'length'. Did you mean 'size'?",
        "f.toml, parts: There is no key called 'nam'. Did you mean 'name'?",
        "f.toml, parts: 'name' is missing.",
        "f.toml, any.x: low must be a number (got '?').",
        "f.toml, any: z must be a table (got 3).",
        "f.toml: 'size' is missing.",
    ]


def test_an_error_of_a_parser_says_where() -> None:
    def parse(text: str) -> None:
        raise UnknownName("task", text, ["gad"])

    with pytest.raises(UnknownName, match=r"f\.toml, tasks: There is no task called"):
        Field(str, parse=parse).value("tasks", "x", "f.toml")


@dataclass(frozen=True)
class Declared:
    must: int = declare_field(MISSING, Field(low=1))
    share: float | None = declare_field(None, Field(below=1))
    word: str = declare_field("a", Field(choices=("a", "b")))
    path: str | bytes = declare_field("", Field())
    several: Sequence[str] = declare_field((), Field(choices=("a", "b")))
    table: dict[str, int] = declare_field({}, Field())
    own: int = 3


def test_the_fields_of_a_data_class_have_the_kinds_of_its_annotations() -> None:
    found = {
        name: (about.kind, about.optional, about.many)
        for name, about in fields.of(Declared).items()
    }
    assert found == {
        "must": (int, False, False),
        "share": (float, True, False),
        "word": (str, False, False),
        "path": (object, False, False),
        "several": (str, False, True),
        "table": (object, False, False),
    }
    fields.check_fields(Declared(1))
    with pytest.raises(TypeError):
        Declared()  # type: ignore[call-arg]
    with pytest.raises(ErrorGroup) as caught:
        fields.check_fields(Declared(0, 1.0, "c", several=["a", "c"]))
    assert len(caught.value.errors) == 4


def test_defaults_stand_in_for_what_cannot_be() -> None:
    errors = ErrorCollector()
    assert fields.drop_invalid(Declared(1, share=2.0, word="b", several=["c"]), errors) == Declared(
        1, word="b"
    )
    assert [str(error).partition(" ")[0] for error in errors.errors] == ["share", "several"]
    assert fields.drop_invalid(Declared(1, own=4), errors) == Declared(1, own=4)


def of_a_stranger(array: jax.Array, made: numbers.missing, *, count: int | None = None) -> None:  # type: ignore # noqa: F821
    """What type checkers alone know is no fault of the call."""


def test_annotations_that_cannot_be_evaluated_are_left_to_type_checkers() -> None:
    hints = fields.hints(of_a_stranger)
    assert (hints["array"], hints["made"], hints["count"]) == (Any, Any, int | None)


# Schemas of typed records: each way to write a type, and what is told of a key.


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
