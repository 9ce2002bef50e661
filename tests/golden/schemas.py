"""The JSON Schema of what each command prints with `--format json`.

python -m tests.golden.schemas    # writes blurb/schemas, which a test compares
"""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from enum import Enum
from pathlib import Path
from types import FunctionType, NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints

import click

import blurb
from blurb.cli._made import FormatOption
from blurb.records import From, Rule
from blurb.terminal.output import json_text

FOLDER = Path(blurb.__file__).parent / "schemas"
Schema = dict[str, Any]
DRAFT = "https://json-schema.org/draft/2020-12/schema"
TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
PARAMETER = re.compile(r"^:param (\w+): (.*(?:\n +.*)*)", re.MULTILINE)


def options() -> dict[str, FormatOption]:
    """The option `--format` of each command that prints JSON."""
    from blurb.cli import cli

    def below(name: str, command: click.Command) -> Iterator[tuple[str, FormatOption]]:
        yield from ((name, option) for option in command.params if isinstance(option, FormatOption))
        if isinstance(command, click.Group):
            context = click.Context(command)
            for part in command.list_commands(context):
                if (found := command.get_command(context, part)) is not None:
                    yield from below(f"{name} {part}".strip(), found)

    return dict(below("", cli))


def of_command(name: str) -> Schema:
    """The JSON Schema of what a command prints."""
    printed = options()[name].printed
    kind = printed() if isinstance(printed, FunctionType) else printed
    return {"$schema": DRAFT, "title": f"blurb {name} --format json", **schema(kind)}


def file_of(name: str) -> Path:
    """The committed schema of a command."""
    return FOLDER / f"{name.replace(' ', '-')}.json"


def schema(kind: Any) -> Schema:
    """The JSON Schema of a type. An object has the keys of its record and no others."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        about = [note for note in arguments[1:] if not isinstance(note, From)]
        notes = (note if isinstance(note, Rule) else Rule("description", note) for note in about)
        return {**schema(arguments[0]), **{note.word: note.value for note in notes}}
    if origin is None and kind in TYPES:
        return {"type": TYPES[kind]}
    if origin in (Union, UnionType):
        return _either([schema(argument) for argument in arguments])
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (list, tuple, Sequence):
        return {"type": "array", "items": schema(arguments[0])}
    if origin in (dict, Mapping):
        names = {} if arguments[0] is str else {"propertyNames": schema(arguments[0])}
        return {"type": "object", **names, "additionalProperties": schema(arguments[1])}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [one.value for one in kind]}
    return _of_record(kind)


def _either(parts: Sequence[Schema]) -> Schema:
    """The schema of a union: one with several types, as all words but `enum` speak of one type only."""
    if any("enum" in part for part in parts):
        return {"enum": [value for part in parts for value in part.get("enum", [None])]}
    words = [word for part in parts for word in part if word != "type"]
    if len(words) > len(set(words)) or not all("type" in part for part in parts):
        return {"anyOf": list(parts)}
    merged = {word: value for part in parts for word, value in part.items()}
    return {**merged, "type": [part["type"] for part in parts]}


def _of_record(kind: Any) -> Schema:
    hints = get_type_hints(kind, include_extras=True)
    meanings = {
        name: text for base in reversed(kind.__mro__) for name, text in _described(base).items()
    }
    optional = {name for name, hint in hints.items() if get_origin(hint) is NotRequired}
    if not is_dataclass(kind):
        optional |= set(kind.__optional_keys__)
    properties = {}
    for name, hint in hints.items():
        own = schema(get_args(hint)[0] if get_origin(hint) is NotRequired else hint)
        properties[name] = {**own, "description": meanings[name]} if name in meanings else own
    return {
        "type": "object",
        "description": inspect.cleandoc(kind.__doc__ or "").partition("\n")[0],
        "properties": properties,
        "required": [name for name in hints if name not in optional],
        "additionalProperties": False,
    }


def _described(base: type) -> dict[str, str]:
    """The `:param` lines of a docstring."""
    return {
        name: " ".join(text.split())
        for name, text in PARAMETER.findall(inspect.cleandoc(base.__doc__ or ""))
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for command in options():
        file_of(command).write_text(json_text(of_command(command)), encoding="utf-8")
