"""A dataset from a folder in the BLURB layout."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from blurb.data.schema import Example, hash_rows, hash_splits, to_dataset
from blurb.data.splits import read_split
from blurb.data.verify import Verdict, verdict
from blurb.errors import DataError
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
    return identified(task, {split: read_split(task, folder, split) for split in splits})


def identified(task: Task, rows: dict[Split, list[Example]]) -> TaskData:
    """The splits of a task from their rows, with their hash and the verdict on them."""
    hashes = {split: hash_rows(examples) for split, examples in rows.items()}
    counts = {split: task.task_type.size(examples) for split, examples in rows.items()}
    datasets = {split: to_dataset(examples, task.task_type) for split, examples in rows.items()}
    return TaskData(task, datasets, _hash(task, hashes), verdict(task, counts, hashes))


def _hash(task: Task, hashes: dict[Split, str]) -> str:
    """The data hash; of a task file its labels and its metric belong to it: both may be edited between two trials.

    Labels are the outputs of the head; and scores of two metrics must not be averaged.
    """
    if not task.file:
        return hash_splits(hashes)
    declared = json.dumps([task.labels, task.metric, task.metric_options], sort_keys=True)
    return hash_splits({**hashes, "declaration": hashlib.sha256(declared.encode()).hexdigest()})
