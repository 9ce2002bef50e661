"""Original releases that have more than the BLURB layout, whose files have dummies in place of the entities of a pair.

A relation task is loaded with its original text from the original release or from prepared JSON lines in
`originals/<task>/<split>.jsonl`, one example per line:

    {"id": "7.T1.T2", "doc_id": "7", "text": "aspirin inhibits COX-1", "label": "CPR:4",
     "head": {"start": 0, "end": 7, "type": "CHEMICAL"}, "tail": {"start": 17, "end": 22, "type": "GENE"}}

The keys are the columns of a relation (`blurb.data.schema`). The entity that starts first is the head; `doc_id` may be
null. The demo suite ships its originals in this form; users can do so with a corpus that they prepared themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from blurb.corpora.releases import Release
from blurb.data.loading import TaskData, identify_rows
from blurb.data.readers._examples import check_label, make_examples, span_of
from blurb.data.schema import Example
from blurb.inputs.relations import dummify_entities, is_dummified
from blurb.messages import FIRST, DataError, ErrorCollector
from blurb.registry import load_object
from blurb.table_files import FileLine, Record, json_lines
from blurb.tasks import SPLITS, Split, Task

KEYS = ("id", "doc_id", "text", "head", "tail", "label")


def load_original(task: Task, folder: Path, splits: Iterable[Split] = SPLITS) -> TaskData:
    """Loads all splits of a relation task with the original text and the spans of the entities.

    Reads prepared JSON lines if the folder has them for this task, for at least one split, otherwise the original
    release. The hash is that of these examples; the verdict is that of their dummified form, which is what BLURB
    publishes.
    """
    is_prepared = any(path_of(Release(folder).folder, task, split).exists() for split in SPLITS)
    reader = (
        read
        if is_prepared
        else load_object(task.original, f"reader of the originals of {task.name}")
    )
    rows = {split: list(reader(folder, task, split)) for split in splits}
    for split, read_rows in rows.items():
        if not read_rows:
            raise DataError(f"the originals of {task.name} have no examples for {split}.", folder)
    published = {split: [dummify_entities(row) for row in each] for split, each in rows.items()}
    return replace(identify_rows(task, rows), verdict=identify_rows(task, published).verdict)


def path_of(folder: Path, task: Task, split: Split) -> Path:
    """Path of the prepared originals of a split."""
    return folder / "originals" / task.name / f"{split}.jsonl"


def read(
    folder: Path, task: Task, split: Split, errors: ErrorCollector = FIRST
) -> Iterator[Example]:
    """Reads the examples of a split; DataError (file, line) for lines in another format."""

    def example(line: FileLine, row: Record) -> Example:
        if problem := _fault_of_line(row):
            raise line.error(f"{problem}.")
        try:
            spans = {role: span_of(row[role], role, row["text"]) for role in ("head", "tail")}
        except DataError as error:
            raise line.error(error.what) from None
        if spans["head"]["start"] > spans["tail"]["start"]:
            raise line.error("tail starts before head; the entity that starts first is the head.")
        if is_dummified(row):  # or a run on "original text" would put markers around dummies
            raise line.error(
                "the entities are dummies; this file must have the original text with their names."
            )
        return {**row, **spans, "label": check_label(row["label"], task.labels, line)}

    return make_examples(json_lines(path_of(folder, task, split), errors), example, errors)


def _fault_of_line(row: Record) -> str:
    """The fault of the keys and texts of a line; "" without one."""
    if set(row) != set(KEYS):
        return f"expected an object with the keys {', '.join(KEYS)}"
    if not all(isinstance(row[key], str) and row[key] for key in ("id", "text", "label")):
        return "id, text and label must be non-empty strings"
    return "" if isinstance(row["doc_id"], str | None) else "doc_id must be a string or null"
