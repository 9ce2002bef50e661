"""Examples from what a user has: raw text, words, pairs of texts, texts with two entities.

What an example needs follows from the columns of its task type: all but the answer. An input is a mapping with these
columns, or text alone: one text, or for a pair two, separated by a tab.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from blurb.data.readers._examples import span_of
from blurb.data.schema import Example
from blurb.messages import DataError
from blurb.table_files import json_object, lines_of
from blurb.tasks import Task

SPLITTER = re.compile(r"\w+|[^\w\s]")
"""The word splitter `letters-and-signs`: runs of letters, digits and underscores, and every other sign by itself."""
ANSWERS = ("tags", "label", "labels", "score")
Input = str | Mapping[str, Any]


class Raw(NamedTuple):
    """An example without an answer.

    :param words: (start, end) of each word of `text`; None if the input was not split into words here
    """

    example: Example
    text: str = ""
    words: list[tuple[int, int]] | None = None


def input_columns(task: Task) -> list[str]:
    """The columns that an input must have: `tokens`, of which a text can take the place, or texts and spans."""
    return [name for name in task.task_type.columns if name not in (*ANSWERS, "doc_id")]


def read(task: Task, given: Input, number: int, where: Path | None = None) -> Raw:
    """An example from an input.

    :param number: of the input, from 1; the line, if it is of a file
    :raises DataError: if it lacks something, or something is of the wrong type
    """
    try:
        return _read_input(task, given, number)
    except DataError as error:
        if where is None:
            raise DataError(f"input {number}: {error}") from None
        raise DataError(str(error), where, number) from None


def _read_input(task: Task, given: Input, number: int) -> Raw:
    requested = input_columns(task)
    record = _parse_row(task, given, requested) if isinstance(given, str) else dict(given)
    nothing = {
        "tags": [],
        "labels": [],
        "score": 0.0,
        "label": task.labels[0] if task.labels else "",
    }
    answer = {name: nothing[name] for name in task.task_type.columns if name in ANSWERS}
    example: Example = {"id": str(record.get("id", number)), "doc_id": None, **answer}
    raw, words = "", None
    if "tokens" in requested and "tokens" not in record and isinstance(record.get("text"), str):
        raw = record["text"]
        words = [match.span() for match in SPLITTER.finditer(raw)]
        record["tokens"] = [raw[start:end] for start, end in words]
    for name in requested:
        if name not in record:
            raise DataError(f"'{name}' is missing; {task.name} needs {_needed_columns(requested)}.")
        example[name] = _checked_value(name, task.task_type.columns[name], record[name], record)
    if "tokens" in requested:
        example["tags"] = ["O"] * len(example["tokens"])
        text = "".join(str(record.get("text") or "").split())
        if words is None and text not in ("", "".join("".join(example["tokens"]).split())):
            raise DataError("'text' and 'tokens' are not the same; give one of them.")
    # Whose corpora say which entity is the head.
    directed = task.is_declared and not task.layout.get("dummies")
    if "head" in requested and not directed and example["head"]["start"] > example["tail"]["start"]:
        example["head"], example["tail"] = example["tail"], example["head"]
    return Raw(example, raw, words)


def lines(path: Path) -> Iterator[tuple[int, Input]]:
    """Line number and input of a file: `.jsonl` with an object a line, any other with text.

    :raises DataError: (file, line) for what is no UTF-8 or no JSON object
    """
    for line, text in lines_of(path):
        if text.strip():
            yield line.number, json_object(text, line) if path.suffix == ".jsonl" else text


def _parse_row(task: Task, text: str, requested: Sequence[str]) -> dict[str, Any]:
    if not text.strip():
        raise DataError("the text is empty.")
    if requested in (["tokens"], ["text"]):
        return {"text": text}
    kinds = {task.task_type.columns[name] for name in requested}
    parts = text.split("\t")
    if kinds == {"text"} and len(requested) == len(parts):
        return dict(zip(requested, parts, strict=True))
    if kinds == {"text"}:
        raise DataError(
            f"needs {' and '.join(requested)}, separated by a tab (got {len(parts)} parts)."
        )
    raise DataError(
        f"text alone is not enough for {task.name}: give JSON with {_needed_columns(requested)}."
    )


def _needed_columns(wanted: Sequence[str]) -> str:
    span = {
        "head": "head {start, end, type}",
        "tail": "tail {start, end, type}",
        "tokens": "tokens (or text)",
    }
    return ", ".join(span.get(name, name) for name in wanted)


def _checked_value(name: str, kind: str, value: Any, record: Mapping[str, Any]) -> Any:
    """A value of its column's type; DataError if it is of another."""
    if kind not in ("text", "texts"):
        text = record.get("text")
        return span_of(value, f"'{name}'", text if isinstance(text, str) else "")
    if kind == "text" and (not isinstance(value, str) or not value.strip()):
        raise DataError(f"'{name}' must be text that is not empty.")
    words = value if isinstance(value, list) else []
    if kind == "texts" and not (words and all(isinstance(word, str) and word for word in words)):
        raise DataError(f"'{name}' must be a list of words that are not empty.")
    if any("\ud800" <= character <= "\udfff" for character in "".join(value)):
        raise DataError(f"'{name}' has half of a surrogate pair, which is not a character.")
    return value
