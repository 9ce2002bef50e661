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
    aside = target.parent / f".{target.name}.{os.getpid()}"
    try:
        try:
            (aside / name).parent.mkdir(parents=True)
            if target.is_dir():
                shutil.copytree(target, aside / name, symlinks=True)
            yield aside
            _exchange(aside / name, target, aside / "old")
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        problem = error.strerror or error
        raise DataError(f"cannot be written: {problem}. What was there is as it was.", out / name) from error


def _exchange(new: Path, target: Path, old: Path) -> None:
    if not target.exists():
        new.rename(target)
        return
    target.rename(old)
    try:
        new.rename(target)
    except OSError:
        old.rename(target)
        raise
