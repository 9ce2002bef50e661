"""Reads, hashes and verifies the datasets of a folder, in the layout of BLURB or that of LinkBERT.

They lie, if nobody says where, in the folder that `blurb data get` fills.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import platformdirs

from blurb.data import manifest
from blurb.data.readers import linkbert
from blurb.data.readers._examples import telling_trimmed_labels
from blurb.data.schema import Example, hash_rows, hash_splits, to_dataset
from blurb.messages import (
    FIRST,
    BlurbError,
    DataError,
    ErrorCollector,
    SettingsError,
    opt,
    option_to_paste,
    with_effect,
)
from blurb.registry import load_object
from blurb.system.files import file_hash, text_hash
from blurb.tasks import SPLITS, Split, Task

if TYPE_CHECKING:
    from datasets import Dataset

VARIABLE = "BLURB_DATA"


def data_home() -> Path:
    """The data folder: `$BLURB_DATA`, or by default a folder of the user's.

    :raises SettingsError: for a user without a home
    """
    try:
        own = Path(platformdirs.user_data_dir("blurb-bench", appauthor=False))
    except RuntimeError:
        raise SettingsError(
            "There is no home folder for the data", fix=f"set {VARIABLE} to a folder."
        ) from None
    return Path(os.environ.get(VARIABLE) or own / "data")


def existing_home() -> Path | None:
    """The data folder if it is there."""
    if os.environ.get(VARIABLE):  # whoever set it is told that it is not there
        return data_home()
    try:
        return folder if (folder := data_home()).is_dir() else None
    except SettingsError:
        return None


Verdict = Literal["identical", "counts only", "differs", "not known"]
ORIGINALS = frozenset({".zip", ".gz", ".tgz", ".tar", ".rar", ".docx", ".iob2", ".xml", ".ann"})
"""Endings of files of the original releases, which BLURB's files never have."""


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


def load_task(task: Task, folder: Path, splits: Iterable[Split] = SPLITS) -> TaskData:
    """Loads, hashes and verifies the splits of a task."""
    check_folder(folder)
    return identify_rows(task, {split: read_split(task, folder, split) for split in splits})


def check_folder(folder: Path) -> None:
    """Raises a DataError if there is no such data folder."""
    if folder.is_file():
        raise DataError("is a file; give its folder.", folder)
    if not folder.is_dir():
        raise DataError(
            "the data folder does not exist", folder, fix=f"check {opt('data')} or {VARIABLE}."
        )


def identify_rows(task: Task, rows: dict[Split, list[Example]]) -> TaskData:
    """Hashes and verifies the splits of a task."""
    datasets = {split: to_dataset(examples, task.task_type) for split, examples in rows.items()}
    return TaskData(task, datasets, *hash_and_verdict(task, rows))


def hash_and_verdict(task: Task, rows: dict[Split, list[Example]]) -> tuple[str, Verdict]:
    """The data hash of the splits of a task, and the verdict on them.

    The hash of a task file (also of a suite) covers labels and metric, too, as users may edit both between two trials:
    labels determine the outputs of the head, and scores of two metrics must not be averaged.
    """
    hashes = {split: hash_rows(examples) for split, examples in rows.items()}
    counts = {split: task.task_type.size(examples) for split, examples in rows.items()}
    declared: dict[str, str] = {}
    if task.is_declared:
        declared["declaration"] = text_hash(
            json.dumps([task.labels, task.metric, task.metric_options], sort_keys=True)
        )
    return hash_splits({**hashes, **declared}), verdict(task, counts, hashes)


def path_of(task: Task, folder: Path, split: Split) -> Path:
    """Path of a split: BLURB's file, or LinkBERT's if only that exists."""
    path = folder / task.files[split]
    other = linkbert.path_of(folder, task, split)
    return other if other is not None and other.is_file() and not path.exists() else path


def hint_at_folder(tasks: Sequence[Task], folder: Path) -> str:
    """A hint if the files are one folder up or down, or if these are originals and not BLURB's files."""
    relative = [task for task in tasks if not task.has_own_paths]
    below = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    for other in (folder.resolve().parent, *below):
        if any(path_of(task, other, split).is_file() for task in relative for split in SPLITS):
            return f" Did you mean{option_to_paste('--data', other)}?"
    if any(
        path.suffix.lower() in ORIGINALS
        for depth in ("*", "*/*", "*/*/*")
        for path in folder.glob(depth)
    ):
        return (
            " There are files of original releases here; BLURB's files are made from them by "
            f"blurb data prepare{option_to_paste('--raw', folder)} --out DATA"
        )
    return ""


def read_split(
    task: Task, folder: Path, split: Split, errors: ErrorCollector = FIRST
) -> list[Example]:
    """Reads the examples of one split.

    :param errors: gets what is wrong (file, line, what was expected); by default the first fault is raised
    """
    path, before = path_of(task, folder, split), len(errors.errors)
    if not path.exists():
        errors.add(DataError("the file is missing (docs/data.md describes BLURB's layout).", path))
        return []
    ours = path == folder / task.files[split]
    read = load_object(task.reader, f"reader of {task.name}") if ours else linkbert.read
    # A reader of a plug-in may take no collector.
    more = [errors] if "errors" in inspect.signature(read).parameters else []
    rows: list[Example] = []
    with telling_trimmed_labels(path), errors:
        rows = list(read(path, task, split, *more))
    seen: set[str] = set()
    for row in rows:
        if row["id"] in seen:
            errors.add(DataError(f"the id {row['id']!r} occurs twice in the file.", path))
        seen.add(row["id"])
    if not rows and len(errors.errors) == before:
        errors.add(DataError("the file contains no examples.", path))
    return rows


@dataclass(frozen=True)
class DatasetVerification:
    """Result of verifying one dataset.

    :param counts: size of every split present, in the unit of the task
    :param verdict: verdict on the splits present; None if there are none
    :param missing: splits without a file
    :param errors: of unreadable files
    :param hashes: hash of the canonical examples of every split present
    :param notes: differences from the manifest
    """

    task: Task
    counts: Mapping[Split, int]
    verdict: Verdict | None
    missing: tuple[Split, ...]
    errors: tuple[BlurbError, ...]
    hashes: Mapping[Split, str] = field(default_factory=dict)
    notes: tuple[BlurbError, ...] = ()


def examine_task(task: Task, folder: Path, trust: bool = True) -> DatasetVerification:
    """Reads, counts and hashes every split of a task. Unreadable files are reported, not raised.

    :param trust: do not read files again whose hash is the one in the folder's manifest
    """
    counts: dict[Split, int] = {}
    hashes: dict[Split, str] = {}
    missing: list[Split] = []
    errors: list[BlurbError] = []
    known: Mapping[Split, manifest.ManifestSplit] = {}
    notes: list[BlurbError] = []
    if trust:
        try:
            known = manifest.read(folder, task) or {}
        except DataError as error:
            notes.append(with_effect(error, "It is ignored; the files are read in full"))
    for split in SPLITS:
        path = path_of(task, folder, split)
        if not path.exists():
            missing.append(split)
            continue
        if made := known.get(split):
            if path.is_file() and file_hash(path) == made.sha256:
                counts[split], hashes[split] = made.count, made.examples
                continue
            notes.append(DataError("changed since `blurb data prepare` wrote it.", path))
        faults = ErrorCollector()
        rows = read_split(task, folder, split, faults)
        errors += faults.errors
        if not faults.errors:
            counts[split], hashes[split] = task.task_type.size(rows), hash_rows(rows)
    judged = verdict(task, counts, hashes) if counts else None
    return DatasetVerification(
        task,
        counts,
        "differs" if errors else judged,
        tuple(missing),
        tuple(errors),
        hashes,
        tuple(notes),
    )


def verdict(task: Task, counts: Mapping[Split, int], hashes: Mapping[Split, str]) -> Verdict:
    """Compares the given splits with the declaration of their task.

    "identical": every hash equals the declared one. "counts only": some hash does not, but all counts are those of
    Table 3, or all are those of the released files (a mixture of both is no known release). "differs": anything else.
    "not known": the declaration (of a plug-in) has neither sizes nor hashes.
    """
    if not task.sizes and not task.hashes:
        return "not known"
    if hashes and all(task.hashes.get(split) == value for split, value in hashes.items()):
        return "identical"
    printed = {split: task.sizes.get(split) for split in counts}
    released = {split: task.expected(split) for split in counts}
    return "counts only" if counts and dict(counts) in (printed, released) else "differs"
