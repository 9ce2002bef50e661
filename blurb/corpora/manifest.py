"""Writing `manifest.json` (`blurb.data.manifest` has its form, and reads it)."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from filelock import FileLock

from blurb import __version__
from blurb.corpora.releases import Release
from blurb.data.manifest import SCHEMA, datasets, path_of
from blurb.data.verify import Verification
from blurb.errors import DataError
from blurb.files import file_hash
from blurb.tasks import SPLITS, Task

MANY = 20
"""More files than this in one folder are one source."""


def home(task: Task) -> str:
    """The folder that holds all files of a task, below the data folder; DataError if it is the data folder itself."""
    found = os.path.commonpath([PurePosixPath(task.files[split]).parent for split in SPLITS])
    if found in ("", ".", "/"):
        raise DataError(f"the files of {task.title} are in no folder of their own, so nothing can be put in its place.")
    return found


def entry(folder: Path, found: Verification, release: Release) -> dict[str, Any]:
    """What the manifest is to say of a task whose files are below `folder` and were read as `found`."""
    return {
        "made_by": {"blurb": __version__, **release.tools},
        "sources": _sources(release.read),
        "splits": {
            split: {
                "file": PurePosixPath(found.task.files[split]).as_posix(),
                "sha256": file_hash(folder / found.task.files[split]),
                "examples_sha256": found.hashes[split],
                "count": found.counts[split],
            }
            for split in SPLITS
        },
    }


def update(folder: Path, name: str, made: Mapping[str, Any]) -> list[str]:
    """Puts the entry of a task into the manifest of a data folder; what others put there at the same time stays.

    :return: what is to be told: that the manifest was damaged or of another schema, and was begun anew
    :raises DataError: it cannot be written; it is as it was
    """
    path = path_of(folder)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    told: list[str] = []
    try:
        with FileLock(path.with_name(f".{path.name}.lock")):
            try:
                found = datasets(path)
                before = found or {}
                if found is None and path.exists():
                    raise DataError(f"is of another schema than {SCHEMA}, of another version of blurb.", path)
            except DataError as error:
                before = {}
                told.append(f"{error} It was begun anew; datasets prepared before are read in full.")
            content = {"schema": SCHEMA, "datasets": dict(sorted({**before, name: made}.items()))}
            text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
            try:
                aside.write_bytes(text.encode("utf-8", "replace"))
                aside.replace(path)
            finally:
                aside.unlink(missing_ok=True)
    except OSError as error:
        problem = error.strerror or error
        raise DataError(
            f"cannot be written: {problem}. The files of {name} are in place all the same.", path
        ) from error
    return told


def _sources(read: Mapping[str, str]) -> list[dict[str, Any]]:
    folders: dict[str, list[str]] = {}
    for path in sorted(read):
        folders.setdefault(PurePosixPath(path).parent.as_posix(), []).append(path)
    found: list[dict[str, Any]] = []
    for folder, paths in folders.items():
        if len(paths) <= MANY:
            found += [{"path": path, "sha256": read[path]} for path in paths]
            continue
        lines = "".join(f"{read[path]}  {PurePosixPath(path).name}\n" for path in paths)
        digest = hashlib.sha256(lines.encode("utf-8", "replace")).hexdigest()
        found.append({"path": f"{folder}/*", "files": len(paths), "sha256": digest})
    return found
