"""The columns of an example, one schema per task type, and the hash of canonical examples.

| type | columns |
|---|---|
| ner, pico | id, doc_id, tokens, tags |
| relation | id, doc_id, text, head, tail, label (head and tail: start, end, type; end exclusive, in code points) |
| similarity | id, text_a, text_b, score |
| document | id, doc_id, text, labels |
| qa | id, question, context, label |

`id` is unique within a split; `doc_id` is null where the source names no documents.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from blurb.tasks import TaskType

if TYPE_CHECKING:
    from datasets import Dataset

Row = dict[str, Any]


def to_dataset(rows: list[Row], kind: TaskType) -> Dataset:
    """The rows as a `datasets.Dataset` with the columns and types of their task type."""
    from datasets import Dataset, Features, List, Value

    text = Value("string")
    span = {"start": Value("int32"), "end": Value("int32"), "type": text}
    words = {"id": text, "doc_id": text, "tokens": List(text), "tags": List(text)}
    columns: dict[TaskType, dict[str, Any]] = {
        "ner": words,
        "pico": words,
        "relation": {"id": text, "doc_id": text, "text": text, "head": span, "tail": span, "label": text},
        "similarity": {"id": text, "text_a": text, "text_b": text, "score": Value("float64")},
        "document": {"id": text, "doc_id": text, "text": text, "labels": List(text)},
        "qa": {"id": text, "question": text, "context": text, "label": text},
    }
    return Dataset.from_list(rows, features=Features(columns[kind]))


def hash_rows(rows: Iterable[Row]) -> str:
    """SHA-256 over the canonical JSON of every row, in order: file layout and line endings do not matter."""
    digest = hashlib.sha256()
    for row in rows:
        line = json.dumps(row, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def hash_splits(hashes: dict[Any, str]) -> str:
    """The data hash of a dataset from the hashes of its splits."""
    text = "".join(f"{split} {hashes[split]}\n" for split in sorted(hashes))
    return hashlib.sha256(text.encode()).hexdigest()
