"""Checks whether data is BLURB's, by counts in the paper's unit and hashes of the canonical examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from blurb.data import manifest
from blurb.data.schema import hash_rows
from blurb.data.splits import path_of, read_split
from blurb.messages.errors import BlurbError, DataError, ErrorCollector, followed
from blurb.system.files import file_hash
from blurb.tasks import SPLITS, Split, Task

Verdict = Literal["identical", "counts only", "differs", "not known"]


@dataclass(frozen=True)
class Verification:
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


def examine(task: Task, folder: Path, trust: bool = True) -> Verification:
    """Reads, counts and hashes every split of a task. Unreadable files are reported, not raised.

    :param trust: do not read files again whose hash is the one in the folder's manifest
    """
    counts: dict[Split, int] = {}
    hashes: dict[Split, str] = {}
    missing: list[Split] = []
    errors: list[BlurbError] = []
    known, notes = _manifest(task, folder) if trust else ({}, [])
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
        if faults.errors:
            continue
        counts[split], hashes[split] = task.task_type.size(rows), hash_rows(rows)
    judged = verdict(task, counts, hashes) if counts else None
    return Verification(
        task, counts, "differs" if errors else judged, tuple(missing), tuple(errors), hashes, tuple(notes)
    )


def _manifest(task: Task, folder: Path) -> tuple[Mapping[Split, manifest.ManifestSplit], list[BlurbError]]:
    try:
        return manifest.read(folder, task) or {}, []
    except DataError as error:
        return {}, [followed(error, "It is ignored; the files are read in full")]


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
