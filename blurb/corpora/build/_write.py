"""Replaces a folder atomically: it is written elsewhere and then renamed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from blurb.messages.errors import DataError
from blurb.system.files import beside


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
    aside = beside(target)
    try:
        try:
            (aside / name).parent.mkdir(parents=True)
            if target.exists():
                shutil.copytree(target, aside / name, symlinks=True)
            yield aside
            _exchange(aside / name, target, aside / "old")
        finally:
            _remove(aside)
    except OSError as error:
        problem = error.strerror or error
        raise DataError(f"cannot be written: {problem}. The existing files are unchanged.", out / name) from error


def write(path: Path, text: str, within: Path) -> None:
    """Writes a new file; replaces an existing one even if it is a link or read-only.

    Writes bytes, as text mode would write CR LF on Windows.

    :raises DataError: if a link in `path` leads out of the folder `within`, where an error could not be undone
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.parent.resolve().is_relative_to(within.resolve()):
        raise DataError(f"{path.parent.name} is a link to another folder", path, fix="remove it first.")
    path.unlink(missing_ok=True)
    path.write_bytes(text.encode())


def _exchange(new: Path, target: Path, old: Path) -> None:
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


def _remove(folder: Path) -> None:
    for top, _, _ in os.walk(folder):
        os.chmod(top, 0o700)  # the copy of a read-only folder is read-only
    shutil.rmtree(folder, ignore_errors=True)
