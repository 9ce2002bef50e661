"""Reading a dataset from a folder in the BLURB layout."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from blurb.data.schema import Row, hash_rows, hash_splits, to_dataset
from blurb.data.verify import Verdict, count, verdict
from blurb.errors import DataError
from blurb.tasks import SPLITS, Split, Task

if TYPE_CHECKING:
    from datasets import Dataset


@dataclass(frozen=True)
class TaskData:
    """The three splits of a task with what identifies them.

    :param splits: examples (see `blurb.data.schema`)
    :param hash: data hash over all splits: part of every trial's identity
    :param verdict: whether this is BLURB's data ("identical", "counts only", "differs")
    """

    task: Task
    splits: dict[Split, Dataset]
    hash: str
    verdict: Verdict


def read_split(task: Task, folder: Path, split: Split) -> list[Row]:
    """The rows of one split; DataError (file, line, what was expected) if the file is not what it should be."""
    module, _, function = task.reader.partition(":")
    path = folder / task.files[split]
    rows = list(getattr(importlib.import_module(module), function)(path, task, split))
    seen: set[str] = set()
    for row in rows:
        if row["id"] in seen:
            raise DataError(f"the id {row['id']!r} stands in the file twice.", path)
        seen.add(row["id"])
    if not rows:
        raise DataError("the file has no examples.", path)
    return rows


def load(task: Task, folder: Path, splits: Iterable[Split] = SPLITS) -> TaskData:
    """All splits of a task, hashed and compared with the release that its declaration describes."""
    if not folder.is_dir():
        raise DataError("the data folder does not exist; give it with --data.", folder)
    rows = {split: read_split(task, folder, split) for split in splits}
    hashes = {split: hash_rows(examples) for split, examples in rows.items()}
    counts = {split: count(task, examples) for split, examples in rows.items()}
    datasets = {split: to_dataset(examples, task.type) for split, examples in rows.items()}
    return TaskData(task, datasets, hash_splits(hashes), verdict(task, counts, hashes))
