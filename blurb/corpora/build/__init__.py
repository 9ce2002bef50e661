"""Converts original releases to the BLURB layout, byte for byte as BLURB's data_generation kit does.

A builder is a function `(release, task) -> {split: text of the file}`, named in the task's declaration. It raises
MissingRelease for missing files and DataError (file, line or member) for invalid ones. This module writes and verifies
the files and updates the manifest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from blurb.corpora import manifest
from blurb.corpora.build._files import write, written_aside
from blurb.corpora.releases import MissingRelease, Release
from blurb.data.verify import Verification, examine
from blurb.messages.errors import DataError
from blurb.registry import load_object
from blurb.tasks import SPLITS, Split, Task

__all__ = ["Builder", "MissingRelease", "builder", "prepare"]

Builder = Callable[[Release, Task], Mapping[Split, str]]


def builder(task: Task) -> Builder:
    """Returns the task's builder; DataError if its declaration names none (plug-ins need not)."""
    if not task.builder:
        raise DataError(f"{task.title} has no builder", fix="put its files into the data folder yourself.")
    build: Builder = load_object(task.builder, f"builder of {task.name}")
    return build


def prepare(task: Task, raw: Path, out: Path) -> tuple[Verification, list[str]]:
    """Builds and verifies the files of a task below `out`; returns the verification and notes for the user.

    Nothing below `out` changes before all splits were written and read back; the manifest is updated last. Other files
    in the dataset's folder are kept.

    :param raw: folder with the original releases, at any depth
    :raises MissingRelease: if files of the release are missing
    :raises DataError: if the release is invalid, or `out` cannot be written
    """
    build = builder(task)
    release = Release(raw)
    texts = build(release, task)
    with written_aside(out, manifest.home(task)) as aside:
        for split in SPLITS:
            write(aside / task.files[split], texts[split], within=aside)
        verification = examine(task, aside, trust=False)
        if verification.errors:
            where = str(verification.errors[0]).replace(f"{aside}/", "")
            raise DataError(
                f"the files built from the originals of {task.title} do not follow BLURB's layout: {where}", raw
            )
        entry = manifest.entry(aside, verification, release)
    return verification, [*release.notes, *manifest.update(out, task.name, entry)]
