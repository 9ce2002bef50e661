"""Converts original releases to the BLURB layout, byte for byte as BLURB's data_generation kit does.

A builder is a function `(release, task) -> {split: text of the file}`, named in the task's declaration. It raises
MissingRelease for missing files and DataError (file, line or member) for invalid ones. This module writes and verifies
the files and updates the manifest.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from blurb.corpora.releases import MissingRelease, Release
from blurb.data import manifest
from blurb.data.loading import DatasetVerification, examine_task
from blurb.messages import DataError
from blurb.registry import load_object
from blurb.system.files import hidden_name
from blurb.tasks import SPLITS, Split, Task

__all__ = ["Builder", "MissingRelease", "build_task", "builder"]

Builder = Callable[[Release, Task], Mapping[Split, str]]


def builder(task: Task) -> Builder:
    """Returns the task's builder; DataError if its declaration names none (plug-ins need not)."""
    if not task.builder:
        raise DataError(
            f"{task.title} has no builder", fix="put its files into the data folder yourself."
        )
    build: Builder = load_object(task.builder, f"builder of {task.name}")
    return build


def build_task(task: Task, raw: Path, out: Path) -> tuple[DatasetVerification, list[str]]:
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
    with written_aside(out, manifest.task_folder(task)) as aside:
        for split in SPLITS:
            write(aside / task.files[split], texts[split], within=aside)
        verification = examine_task(task, aside, trust=False)
        if verification.errors:
            where = str(verification.errors[0]).replace(f"{aside}/", "")
            raise DataError(
                f"the files built from the originals of {task.title} do not follow BLURB's layout: {where}",
                raw,
            )
        entry = manifest.entry(aside, verification, release.read)
    return verification, manifest.update(out, task.name, entry)


@contextmanager
def written_aside(out: Path, name: str) -> Iterator[Path]:
    """A temporary folder to write `name` into, which replaces `out/name` at the end.

    It starts as a copy of `out/name`, so that other files are kept. After an error `out/name` is unchanged and nothing
    else is left behind.

    :raises DataError: instead of an OSError (disk full, no permission)
    """
    target = (out / name).resolve()  # follow a link, so that renames stay on one file system
    if target.exists() and not target.is_dir():
        raise DataError("cannot be written: there is a file of that name.", out / name)
    aside = hidden_name(target)
    try:
        try:
            (aside / name).parent.mkdir(parents=True)
            if target.exists():
                shutil.copytree(target, aside / name, symlinks=True)
            yield aside
            _exchange_folders(aside / name, target, aside / "old")
        finally:
            _remove_folder(aside)
    except OSError as error:
        raise DataError(
            f"cannot be written: {error.strerror or error}. The existing files are unchanged.",
            out / name,
        ) from error


def write(path: Path, text: str, within: Path) -> None:
    """Writes a new file; replaces an existing one even if it is a link or read-only.

    Writes bytes, as text mode would write CR LF on Windows.

    :raises DataError: if a link in `path` leads out of the folder `within`, where an error could not be undone
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.parent.resolve().is_relative_to(within.resolve()):
        raise DataError(
            f"{path.parent.name} is a link to another folder", path, fix="remove it first."
        )
    path.unlink(missing_ok=True)
    path.write_bytes(text.encode())


def _exchange_folders(new: Path, target: Path, old: Path) -> None:
    if not target.exists():
        new.rename(target)
        return
    try:
        target.rename(old)
        new.rename(target)
    except BaseException:  # Ctrl-C too: `old` is the only copy, and is removed next
        if old.exists() and not target.exists():
            old.rename(target)
        raise


def _remove_folder(folder: Path) -> None:
    for top, _, _ in os.walk(folder):
        os.chmod(top, 0o700)  # the copy of a read-only folder is read-only
    shutil.rmtree(folder, ignore_errors=True)
