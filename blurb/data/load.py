"""A dataset from a folder in the BLURB layout."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from blurb.data.originals import rows as prepared
from blurb.data.read import read_split
from blurb.data.schema import Row, hash_rows, hash_splits, to_dataset
from blurb.data.verify import Verdict, count, verdict
from blurb.errors import DataError
from blurb.inputs.relations import dummified
from blurb.tasks import SPLITS, Split, Task

if TYPE_CHECKING:
    from datasets import Dataset


@dataclass(frozen=True)
class TaskData:
    """The splits of a task with what identifies them.

    :param splits: examples (see `blurb.data.schema`)
    :param hash: data hash over all splits: part of every trial's identity
    :param verdict: whether this is BLURB's data ("identical", "counts only", "differs")
    """

    task: Task
    splits: dict[Split, Dataset]
    hash: str
    verdict: Verdict


def load(task: Task, folder: Path, splits: Iterable[Split] = SPLITS) -> TaskData:
    """All splits of a task, hashed and compared with the release that its declaration describes."""
    if not folder.is_dir():
        raise DataError("the data folder does not exist; give it with --data.", folder)
    return _task_data(task, {split: read_split(task, folder, split) for split in splits})


def load_original(task: Task, folder: Path, splits: Iterable[Split] = SPLITS) -> TaskData:
    """All splits of a relation task with the text as it was and the spans of the entities.

    They are read from prepared rows (`blurb.data.originals.rows`) if the folder has them for this task, else from the
    original release as the task's own reader knows it. The hash is that of these examples; the verdict is that of their
    dummified form, which is what BLURB publishes.
    """
    if not folder.is_dir():
        raise DataError("the folder of the original releases does not exist; give it with --raw.", folder)
    read = prepared.read if prepared.are_there(folder, task) else _function(task.original)
    rows = {split: list(read(folder, task, split)) for split in splits}
    for split, examples in rows.items():
        if not examples:
            raise DataError(f"the originals of {task.name} have no examples of {split}.", folder)
    published = {split: [dummified(row) for row in examples] for split, examples in rows.items()}
    return replace(_task_data(task, rows), verdict=_task_data(task, published).verdict)


def _function(name: str) -> Callable[[Path, Task, Split], Iterable[Row]]:
    module, _, function = name.partition(":")
    read: Callable[[Path, Task, Split], Iterable[Row]] = getattr(importlib.import_module(module), function)
    return read


def _task_data(task: Task, rows: dict[Split, list[Row]]) -> TaskData:
    hashes = {split: hash_rows(examples) for split, examples in rows.items()}
    counts = {split: count(task, examples) for split, examples in rows.items()}
    datasets = {split: to_dataset(examples, task.type) for split, examples in rows.items()}
    return TaskData(task, datasets, _hash(task, hashes), verdict(task, counts, hashes))


def _hash(task: Task, hashes: dict[Split, str]) -> str:
    """The data hash; of a task file its labels and its metric belong to it: both may be edited between two trials.

    Labels are the outputs of the head; and scores of two metrics must not be averaged.
    """
    if not task.file:
        return hash_splits(hashes)
    declared = json.dumps([task.labels, task.metric, task.metric_options], sort_keys=True)
    return hash_splits({**hashes, "declaration": hashlib.sha256(declared.encode()).hexdigest()})
