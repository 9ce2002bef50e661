"""Loads a dataset from a folder in the BLURB layout."""

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
from blurb.messages.errors import DataError
from blurb.messages.spelling import opt
from blurb.tasks import SPLITS, Split, Task

if TYPE_CHECKING:
    from datasets import Dataset


@dataclass(frozen=True)
class TaskData:
    """The splits of a task, their hash and the verdict on them.

    :param splits: examples (see `blurb.data.schema`)
    :param hash: data hash over all splits; part of every trial's identity
    :param verdict: whether this is BLURB's data ("identical", "counts only", "differs")
    """

    task: Task
    splits: dict[Split, Dataset]
    hash: str
    verdict: Verdict


def load(task: Task, folder: Path, splits: Iterable[Split] = SPLITS) -> TaskData:
    """Loads, hashes and verifies the splits of a task."""
    if not folder.is_dir():
        raise DataError("the data folder does not exist", folder, fix=f"check the path given with {opt('data')}.")
    return identified(task, {split: read_split(task, folder, split) for split in splits})


def identified(task: Task, rows: dict[Split, list[Example]]) -> TaskData:
    """Hashes and verifies the splits of a task."""
    datasets = {split: to_dataset(examples, task.task_type) for split, examples in rows.items()}
    return TaskData(task, datasets, *identity(task, rows))


def identity(task: Task, rows: dict[Split, list[Example]]) -> tuple[str, Verdict]:
    """The data hash of the splits of a task, and the verdict on them."""
    hashes = {split: hash_rows(examples) for split, examples in rows.items()}
    counts = {split: task.task_type.size(examples) for split, examples in rows.items()}
    return _hash(task, hashes), verdict(task, counts, hashes)


def _hash(task: Task, hashes: dict[Split, str]) -> str:
    """The data hash. For a task file it covers labels and metric, too, as users may edit both between two trials.

    Labels determine the outputs of the head; and scores of two metrics must not be averaged.
    """
    if not task.file:
        return hash_splits(hashes)
    declared = json.dumps([task.labels, task.metric, task.metric_options], sort_keys=True)
    return hash_splits({**hashes, "declaration": hashlib.sha256(declared.encode()).hexdigest()})
