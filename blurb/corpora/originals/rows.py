"""Original text that somebody prepared already: JSON lines in `originals/<task>/<split>.jsonl`, one example a line.

    {"id": "7.T1.T2", "doc_id": "7", "text": "aspirin inhibits COX-1", "label": "CPR:4",
     "head": {"start": 0, "end": 7, "type": "CHEMICAL"}, "tail": {"start": 17, "end": 22, "type": "GENE"}}

The keys are the columns of a relation (`blurb.data.schema`). The entity that starts first is the head; `doc_id` may be
null. The demo suite brings its originals this way, and so can anybody who has cut and aligned a corpus on their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from blurb.data.readers._files import check_label, json_lines
from blurb.data.schema import Example
from blurb.errors import DataError
from blurb.inputs.relations import is_dummified
from blurb.tasks import SPLITS, Split, Task

KEYS = ("id", "doc_id", "text", "head", "tail", "label")
SPAN_KEYS = ("start", "end", "type")


def path_of(folder: Path, task: Task, split: Split) -> Path:
    """Where the prepared originals of a split are."""
    return folder / "originals" / task.name / f"{split}.jsonl"


def are_there(folder: Path, task: Task) -> bool:
    """Whether a folder has prepared originals of a task; one split counts, as all splits come from one source."""
    return any(path_of(folder, task, split).exists() for split in SPLITS)


def read(folder: Path, task: Task, split: Split) -> Iterator[Example]:
    """The rows of a split; DataError (file, line) for whatever is not as the docstring of this module says."""
    path = path_of(folder, task, split)
    first: dict[str, int] = {}
    for number, row in json_lines(path):
        if problem := _problem(row):
            raise DataError(f"{problem}.", path, number)
        check_label(row["label"], task.labels, path, number)
        if row["id"] in first:
            raise DataError(f"the id {row['id'][:40]!r} stands in line {first[row['id']]} already.", path, number)
        first[row["id"]] = number
        yield row


def _problem(row: Any) -> str:
    """What is wrong with a line; nothing if it is an example."""
    if not _has(row, KEYS):
        return f"expected an object with the keys {', '.join(KEYS)}"
    if not all(isinstance(row[key], str) and row[key] for key in ("id", "text", "label")):
        return "id, text and label must be text that is not empty"
    if not isinstance(row["doc_id"], str | None):
        return "doc_id must be text or null"
    for role in ("head", "tail"):
        span = row[role]
        if not (_has(span, SPAN_KEYS) and isinstance(span["type"], str) and span["type"]):
            return f"{role} must be an object with start, end and type, the type a text that is not empty"
        if type(span["start"]) is not int or type(span["end"]) is not int:  # True is an int, too
            return f"start and end of {role} must be whole numbers"
        if not 0 <= span["start"] < span["end"] <= len(row["text"]):
            return f"{role} is outside the text (code points, end exclusive), which has {len(row['text'])}"
    if row["head"]["start"] > row["tail"]["start"]:
        return "tail starts before head; the entity that starts first is the head"
    # Else markers would go around dummies, in a run that says it is on the original text.
    return "the entities are dummies; this file is for the text with their names" if is_dummified(row) else ""


def _has(value: Any, keys: tuple[str, ...]) -> bool:
    return isinstance(value, dict) and set(value) == set(keys)
