"""A folder that is written aside and renamed into place, whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from blurb.errors import DataError


@contextmanager
def written_aside(out: Path, name: str) -> Iterator[Path]:
    """A folder to write `name` into; at the end `name` in it takes the place of `out/name`.

    It starts as a copy of `out/name`, so that files which nobody writes stay. On any error `out/name` is what it was
    and nothing else is left.

    :raises DataError: in the place of an OSError (no room, no permission)
    """
    target = (out / name).resolve()  # where a link leads, so that the renames stay on one file system
    if target.exists() and not target.is_dir():
        raise DataError("cannot be written: a file stands in the place of the folder.", out / name)
    aside = target.parent / f".{target.name}.{os.getpid()}"
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
        raise DataError(f"cannot be written: {problem}. What was there is as it was.", out / name) from error


def write(path: Path, text: str, within: Path) -> None:
    """A new file with this text, also where there is one that is a link or read-only.

    Bytes are written, for text mode would write CR LF on Windows.

    :raises DataError: a link in `path` leads out of the folder `within`, where nothing can be put back on an error
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.parent.resolve().is_relative_to(within.resolve()):
        raise DataError(f"{path.parent.name} is a link to another folder; remove it first.", path)
    path.unlink(missing_ok=True)
    path.write_bytes(text.encode())


def _exchange(new: Path, target: Path, old: Path) -> None:
    if not target.exists():
        new.rename(target)
        return
    try:
        target.rename(old)
        new.rename(target)
    except BaseException:  # Ctrl-C too: what lies aside is removed, and that is the only copy
        if old.exists() and not target.exists():
            old.rename(target)
        raise


def _remove(folder: Path) -> None:
    for top, _, _ in os.walk(folder):
        os.chmod(top, 0o700)  # the copy of a read-only folder is read-only
    shutil.rmtree(folder, ignore_errors=True)
