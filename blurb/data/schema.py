"""The columns of examples, the hash of canonical examples, and what of two examples is the same.

`blurb.tasks.types` lists the columns of each type.

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
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from blurb.grouping import by_key
from blurb.tasks import Split, TaskType

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


def input_texts(row: Example) -> tuple[str, ...]:
    """The text of an example, or the two of a pair. Words are joined by blanks, as for the tokenizer.

    >>> input_texts({"id": "7", "question": "Does it ?", "context": "It does ."})
    ('Does it ?', 'It does .')
    """
    if "tokens" in row:
        return (" ".join(row["tokens"]),)
    return tuple(
        row[name] for name in ("text", "text_a", "text_b", "question", "context") if name in row
    )


def count_words(row: Example) -> int:
    """Number of words: the example's tokens if it has any, else separated by blanks, in both texts of a pair."""
    return (
        len(row["tokens"])
        if "tokens" in row
        else sum(len(text.split()) for text in input_texts(row))
    )


def identity(row: Example) -> tuple[object, ...]:
    """The identity of an example for a model: examples with equal identity have exactly the same input.

    The order of the two sentences of a similarity pair is ignored, as the score does not depend on it. In a relation
    the positions of the entities are part of the input.

    >>> identity({"text_a": "b", "text_b": "a", "score": 1.0}) == identity({"text_a": "a", "text_b": "b", "score": 4.0})
    True
    """
    if "tokens" in row:
        return tuple(row["tokens"])
    if "head" in row:
        return row["text"], *((row[role]["start"], row[role]["end"]) for role in ("head", "tail"))
    parts = input_texts(row)
    return tuple(sorted(parts)) if "text_a" in row else parts


def gold_answer(row: Example) -> object:
    """The gold answer of an example, as a hashable value."""
    for name in ("tags", "labels"):
        if name in row:
            return tuple(row[name])
    return row["label"] if "label" in row else row["score"]


def group_by_input(rows: Iterable[Example]) -> dict[tuple[object, ...], list[Example]]:
    """Groups examples by input, in file order."""
    return by_key((identity(row), row) for row in rows)


def leaked_ids(splits: Mapping[Split, Iterable[Example]]) -> set[str]:
    """Ids of the test examples whose exact input, however short, also occurs in train.

    :param splits: train and test, as lists of examples or as datasets (`blurb.data.loading`)

    >>> train = [{"id": "train.0", "tokens": ["kalo", "mi"], "tags": ["O", "O"]}]
    >>> test = [{"id": "test.0", "tokens": ["kalo", "mi"], "tags": ["O", "O"]},
    ...         {"id": "test.1", "tokens": ["kalo"], "tags": ["O"]}]
    >>> leaked_ids({"train": train, "test": test})
    {'test.0'}
    """
    known = group_by_input(splits.get("train", ())).keys()
    return {
        str(row["id"])
        for key, rows in group_by_input(splits.get("test", ())).items()
        if key in known
        for row in rows
    }
