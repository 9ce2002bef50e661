"""Everything that is wrong with a protocol file, for `blurb doctor`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from blurb import names as name_rules
from blurb import tasks
from blurb.learners import of_checkpoints, of_protocol
from blurb.messages.errors import BlurbError
from blurb.protocols import baselines, protocol
from blurb.system import toml


def faults(path: Path) -> list[BlurbError]:
    """Everything for which `load` refuses a file, as far as one fault does not hide another."""
    errors: list[BlurbError] = []
    try:
        name_rules.check(path.stem, "The name of the protocol file", "--protocol")
        content = toml.read(path)
    except BlurbError as error:
        return [error]
    always = {"learner": content["learner"]} if content.get("learner") in of_checkpoints() else {}
    for part in _parts(content):
        try:
            parsed = of_protocol.check(protocol.parse(path.stem, str(path), {**always, **part}), path)
            parsed.settings(tasks.get(next(iter(parsed.per_task), tasks.all()[0].name)), {}, 0)
            for name, concerned in parsed.per_baseline:
                for task in baselines.concerned(concerned):
                    parsed.settings(task, {}, 0, name)

        except BlurbError as error:
            errors.append(error)
    return list({str(error): error for error in errors}.values())


def _parts(content: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A file key by key, its tables setting by setting."""
    for key, value in content.items():
        if key in ("all", "search", "tasks") and isinstance(value, dict):
            for name, inner in value.items():
                if key == "tasks" and isinstance(inner, dict) and inner:
                    yield from ({key: {name: {setting: inner[setting]}}} for setting in inner)
                else:
                    yield {key: {name: inner}}
        elif key == "baselines" and isinstance(value, dict):
            for name, inner in value.items():
                yield from ({key: {name: one}} for one in _of_baseline(inner))
        else:
            yield {key: value}


def _of_baseline(values: Any) -> Iterator[Any]:
    """The table of a baseline setting by setting."""
    if not isinstance(values, dict) or not values:
        yield values
        return
    for key, value in values.items():
        if key == "tasks" and isinstance(value, dict):
            for task, inner in value.items():
                listed = inner.items() if isinstance(inner, dict) else ()
                yield from ({key: {task: {setting: one}}} for setting, one in listed)
                if not listed:
                    yield {key: {task: inner}}
        else:
            yield {key: value}
