"""Writes `manifest.json`; `blurb.data.manifest` describes and reads it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from blurb import __version__
from blurb.corpora.releases import Release
from blurb.data.manifest import SCHEMA, datasets, path_of
from blurb.data.verify import Verification
from blurb.messages.errors import DataError
from blurb.system import leases
from blurb.system.files import file_hash, replacing
from blurb.tasks import SPLITS, Task

MANY = 20
"""Maximum number of files of one folder that are listed separately; more are one source."""


def home(task: Task) -> str:
    """Folder of a task's files below the data folder; DataError if it is the data folder itself."""
    folder = os.path.commonpath([PurePosixPath(task.files[split]).parent for split in SPLITS])
    if folder in ("", ".", "/"):
        raise DataError(f"the files of {task.title} have no folder of their own, so the folder cannot be replaced.")
    return folder


def entry(folder: Path, found: Verification, release: Release) -> dict[str, Any]:
    """The manifest entry of a task whose files are below `folder` and were verified as `found`."""
    return {
        "made_by": {"blurb": __version__},
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
    """Adds the entry of a task to the manifest of a data folder. Safe if several processes do so at the same time.

    :return: warnings for the user (a damaged or incompatible manifest was replaced)
    :raises DataError: if the manifest cannot be written; it is then unchanged
    """
    path = path_of(folder)
    warnings: list[str] = []
    try:
        with leases.held(path.with_name(f".{path.name}.lease")):
            try:
                entries = datasets(path)
                before = entries or {}
                if entries is None and path.exists():
                    raise DataError(f"has another schema than {SCHEMA}; another version of blurb wrote it.", path)
            except DataError as error:
                before = {}
                warnings.append(f"{error} It was replaced; datasets prepared before will be read in full.")
            content = {"schema": SCHEMA, "datasets": dict(sorted({**before, name: made}.items()))}
            text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
            with replacing(path) as aside:
                aside.write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        problem = error.strerror or error
        raise DataError(
            f"cannot be written: {problem}. The files of {name} are complete nevertheless.", path
        ) from error
    return warnings


def _sources(read: Mapping[str, str]) -> list[dict[str, Any]]:
    folders: dict[str, list[str]] = {}
    for path in sorted(read):
        folders.setdefault(PurePosixPath(path).parent.as_posix(), []).append(path)
    sources: list[dict[str, Any]] = []
    for folder, paths in folders.items():
        if len(paths) <= MANY:
            sources += [{"path": path, "sha256": read[path]} for path in paths]
            continue
        lines = "".join(f"{read[path]}  {PurePosixPath(path).name}\n" for path in paths)
        digest = hashlib.sha256(lines.encode("utf-8", "replace")).hexdigest()
        sources.append({"path": f"{folder}/*", "files": len(paths), "sha256": digest})
    return sources
