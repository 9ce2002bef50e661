"""The columns of examples, and the hash of canonical examples. `blurb.tasks.types` lists the columns of each type.

| column | meaning |
|---|---|
| id | unique within a split |
| doc_id | null if the source does not name documents |
| tokens, tags | words, and one tag per word |
| text; text_a, text_b; question, context | input texts |
| head, tail | the two entities of a relation: start, end (exclusive), type; in code points of the text |
| label, labels, score | the answer: a class, any number of classes, a number |
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from blurb.tasks import TaskType

if TYPE_CHECKING:
    from datasets import Dataset

Example = dict[str, Any]


def to_dataset(rows: list[Example], task_type: TaskType) -> Dataset:
    """Converts examples to a `datasets.Dataset` with the columns of their task type."""
    from datasets import Dataset, Features, List, Value

    text = Value("string")
    span = {"start": Value("int32"), "end": Value("int32"), "type": text}
    columns = {"text": text, "texts": List(text), "span": span, "number": Value("float64")}
    types = {"id": text, **{name: columns[column] for name, column in task_type.columns.items()}}
    return Dataset.from_list(rows, features=Features(types))


def hash_rows(rows: Iterable[Example]) -> str:
    """SHA-256 over the canonical JSON of the examples, in order; independent of file layout and line endings."""
    digest = hashlib.sha256()
    for row in rows:
        line = json.dumps(row, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def hash_splits(hashes: dict[Any, str]) -> str:
    """The data hash of a dataset from the hashes of its splits."""
    text = "".join(f"{split} {hashes[split]}\n" for split in sorted(hashes))
    return hashlib.sha256(text.encode()).hexdigest()
