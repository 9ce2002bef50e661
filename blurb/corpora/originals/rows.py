"""Reads prepared original text: JSON lines in `originals/<task>/<split>.jsonl`, one example per line.

    {"id": "7.T1.T2", "doc_id": "7", "text": "aspirin inhibits COX-1", "label": "CPR:4",
     "head": {"start": 0, "end": 7, "type": "CHEMICAL"}, "tail": {"start": 17, "end": 22, "type": "GENE"}}

The keys are the columns of a relation (`blurb.data.schema`). The entity that starts first is the head; `doc_id` may be
null. The demo suite ships its originals in this form; users can do so with a corpus that they prepared themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from blurb.data.readers._examples import check_label, examples
from blurb.data.schema import Example
from blurb.inputs.relations import is_dummified
from blurb.lines import FileLine, Record, json_lines
from blurb.messages.errors import FIRST, ErrorCollector
from blurb.tasks import SPLITS, Split, Task

KEYS = ("id", "doc_id", "text", "head", "tail", "label")
SPAN_KEYS = ("start", "end", "type")


def path_of(folder: Path, task: Task, split: Split) -> Path:
    """Path of the prepared originals of a split."""
    return folder / "originals" / task.name / f"{split}.jsonl"


def are_there(folder: Path, task: Task) -> bool:
    """Whether a folder has prepared originals of a task, for at least one split: all splits come from one source."""
    return any(path_of(folder, task, split).exists() for split in SPLITS)


def read(folder: Path, task: Task, split: Split, errors: ErrorCollector = FIRST) -> Iterator[Example]:
    """Reads the examples of a split; DataError (file, line) for lines in another format."""

    def example(line: FileLine, row: Record) -> Example:
        if problem := _problem(row):
            raise line.error(f"{problem}.")
        return {**row, "label": check_label(row["label"], task.labels, line)}

    return examples(json_lines(path_of(folder, task, split), errors), example, errors)


def _problem(row: Any) -> str:
    """What is wrong with a line; "" if it is a valid example."""
    if not _has(row, KEYS):
        return f"expected an object with the keys {', '.join(KEYS)}"
    if not all(isinstance(row[key], str) and row[key] for key in ("id", "text", "label")):
        return "id, text and label must be non-empty strings"
    if not isinstance(row["doc_id"], str | None):
        return "doc_id must be a string or null"
    for role in ("head", "tail"):
        span = row[role]
        if not (_has(span, SPAN_KEYS) and isinstance(span["type"], str) and span["type"]):
            return f"{role} must be an object with start, end and type, and type a non-empty string"
        if type(span["start"]) is not int or type(span["end"]) is not int:  # not isinstance, as True is an int
            return f"start and end of {role} must be whole numbers"
        if not 0 <= span["start"] < span["end"] <= len(row["text"]):
            return f"{role} is outside the text of {len(row['text'])} code points (end is exclusive)"
    if row["head"]["start"] > row["tail"]["start"]:
        return "tail starts before head; the entity that starts first is the head"
    # Otherwise a run on "original text" would put markers around dummies.
    return (
        "the entities are dummies; this file must have the original text with their names" if is_dummified(row) else ""
    )


def _has(value: Any, keys: tuple[str, ...]) -> bool:
    return isinstance(value, dict) and set(value) == set(keys)
