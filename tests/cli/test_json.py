"""`--format json`: every command has a schema, which is in `blurb/schemas`, and prints what it says (docs/json.md).

What the commands print is in `tests/golden/rendered`, which `tests/golden/test_rendered.py` holds to be so, and to have
each command with each of its formats.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from jsonschema import Draft202012Validator, ValidationError

from blurb.terminal.output import json_text
from tests.golden import render, schemas
from tests.golden.cases import CASES
from tests.golden.interface import commands

pytestmark = pytest.mark.extensions  # the schemas of all commands


DOCS = Path(__file__).parents[2] / "docs"
NAMES = sorted(
    name
    for name, command in commands()
    for parameter in command.params
    if isinstance(parameter.type, click.Choice)
    and "--format" in parameter.opts
    and "json" in parameter.type.choices
)
FIGURE = re.compile(
    r"[<+-]?\d[\d,]*(\.\d+)?( ?(%|[KMG]B|s|points))?|\d+ ?[-/] ?\d+|none|nan", re.IGNORECASE
)
"""A number as a reader is shown it: with a unit, a sign, a range."""
ASKED = re.compile(r"--format json( |$)")
NAMED = {
    "id",
    "ids",
    "others",
    "longest_id",
    "labels",
    "entity",
    "gold",
    "prediction",
    "prediction_a",
    "prediction_b",
    "positive",
    "short_labels",
}
"""Keys of ids and labels, which may be digits: `gad` has the classes 0 and 1."""


def schema(name: str) -> Any:
    return json.loads(schemas.file_of(name).read_text(encoding="utf-8"))


def printed(name: str) -> list[Any]:
    """All that the command printed as JSON in the golden transcripts."""
    found = []
    for case in CASES:
        if not any(ASKED.search(command) for command in case.commands):
            continue
        text = (render.RENDERED / f"{case.name}.txt").read_text(encoding="utf-8")
        for part in re.split(r"^\$ blurb ", text, flags=re.MULTILINE)[1:]:
            typed, _, shown = part.partition("\n")
            if (
                ASKED.search(typed)
                and max((one for one in NAMES if typed.startswith(one)), key=len) == name
            ):
                found.append(
                    json.loads(re.split(r"^\[(?:stderr\]|exit )", shown, flags=re.MULTILINE)[0])
                )
    return found


def walk(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """All that is in a value, with the key next above."""
    yield key, value
    for name, item in value.items() if isinstance(value, dict) else ():
        yield from walk(item, name)
    for item in value if isinstance(value, list) else ():
        yield from walk(item, key)


def test_every_command_has_a_schema_which_a_command_prints() -> None:
    assert sorted(schemas.options()) == NAMES
    assert sorted(path.name for path in schemas.FOLDER.iterdir()) == sorted(
        schemas.file_of(name).name for name in NAMES
    )
    for name in NAMES:
        assert schema(name) == json.loads(json_text(schemas.of_command(name))), (
            "python -m tests.golden.schemas"
        )
    page = (DOCS / "json.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `blurb ([^`]+)` \|", page, re.MULTILINE)) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_what_it_prints_is_as_the_schema_says(name: str) -> None:
    validator = Draft202012Validator(schema(name))
    samples = printed(name)
    assert any(samples)
    for sample in samples:
        validator.validate(sample)


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_numbers_and_keys_have_no_blanks(name: str) -> None:
    for sample in printed(name):
        for key, value in walk(sample):
            assert not (isinstance(value, str) and FIGURE.fullmatch(value) and key not in NAMED), (
                key,
                value,
            )
            for inner in value if isinstance(value, dict) and key not in NAMED else ():
                assert re.fullmatch(r"[a-z0-9_-]+", inner), inner


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_is_valid_and_strict(name: str) -> None:
    found = schema(name)
    Draft202012Validator.check_schema(found)
    assert found["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    assert found["title"] == f"blurb {name} --format json"
    objects = [
        part for _, part in walk(found) if isinstance(part, dict) and part.get("type") == "object"
    ]
    assert objects
    for part in objects:
        others = part["additionalProperties"]
        assert others is False or others["type"], part
        for key, inner in part.get("properties", {}).items():
            assert re.fullmatch(r"[a-z0-9_]+", key)
            assert inner["description"], key
        assert all(inner["type"] for inner in part.get("patternProperties", {}).values())


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_refuses_other_and_missing_keys_and_numbers_as_text(name: str) -> None:
    found = schema(name)
    validator = Draft202012Validator(found)
    sample = next(sample for sample in printed(name) if sample)
    record = sample[0] if isinstance(sample, list) else sample

    def refused(**changed: object) -> bool:
        changed = {**record, **changed}
        return not validator.is_valid([changed] if isinstance(sample, list) else changed)

    assert not refused()
    assert refused(invented="text")
    one = found.get("items", found)
    one = one.get("anyOf", [one])[0]  # of several records the first, that of the sample
    fixed = one["properties"]
    for key in one["required"]:
        less = {other: value for other, value in record.items() if other != key}
        assert not validator.is_valid([less] if isinstance(sample, list) else less), key
    assert all(
        refused(**{key: str(value)})
        for key, value in record.items()
        if isinstance(value, int | float) and "string" not in fixed.get(key, {}).get("type", ())
    )
    with pytest.raises(ValidationError):
        validator.validate({} if isinstance(sample, dict) else [{}])
