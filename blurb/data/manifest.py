"""`manifest.json` beside the files of a prepared dataset: from what, by what, and what came out.

    {"schema": 1, "task": "gad", "made_by": {"blurb": "0.1.0"},
     "sources": [{"path": "GAD/1/train.tsv", "sha256": "..."}, {"path": "hoc/text/*", "files": 1852, "sha256": "..."}],
     "splits": {"train": {"file": "train.tsv", "sha256": "...", "examples_sha256": "...", "count": 4261}, ...}}

Paths are relative, to the folder of the originals and to the manifest: no file names a user's machine. There is no
time in it, so two runs over the same files give the same bytes. `examples_sha256` is `blurb.data.schema.hash_rows`;
`count` is in the unit of the task. Many files of one folder are one source, whose hash is over the lines
`<sha256>  <name>` of all, in the order of their names.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from blurb import __version__
from blurb.errors import DataError
from blurb.tasks import SPLITS, Split, Task

if TYPE_CHECKING:
    from blurb.data.releases import Release
    from blurb.data.verify import Finding

SCHEMA = 1
NAME = "manifest.json"
MANY = 20
"""More files than this in one folder are one source."""


@dataclass(frozen=True)
class Made:
    """What a manifest says of one split: hash of the file, hash of its examples, their count."""

    sha256: str
    examples: str
    count: int


def home(task: Task) -> str:
    """The folder that holds all files of a task, below the data folder; DataError if it is the data folder itself."""
    found = os.path.commonpath([PurePosixPath(task.files[split]).parent for split in SPLITS])
    if found in ("", ".", "/"):
        raise DataError(f"the files of {task.title} are in no folder of their own, so nothing can be put in its place.")
    return found


def path_of(folder: Path, task: Task) -> Path:
    """Where the manifest of a task is, below the data folder."""
    return folder / home(task) / NAME


def write(folder: Path, found: Finding, release: Release) -> None:
    """Writes the manifest of a task whose files are below `folder` and were read as `found`."""
    task = found.task
    content = {
        "schema": SCHEMA,
        "task": task.name,
        "made_by": {"blurb": __version__, **release.tools},
        "sources": _sources(release.read),
        "splits": {
            split: {
                "file": PurePosixPath(task.files[split]).relative_to(home(task)).as_posix(),
                "sha256": file_hash(folder / task.files[split]),
                "examples_sha256": found.hashes[split],
                "count": found.counts[split],
            }
            for split in SPLITS
        },
    }
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    path_of(folder, task).write_bytes(text.encode("utf-8", "replace"))


def read(folder: Path, task: Task) -> dict[Split, Made] | None:
    """What the manifest of a task says; None if there is none that this version can rely on.

    One of another version is not relied on: its readers may have seen other examples in the same file.

    :raises DataError: it is damaged
    """
    try:
        path = path_of(folder, task)
        content = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError, DataError):
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"cannot be read: {error}.", path) from None
    try:
        if content["schema"] != SCHEMA or content["made_by"]["blurb"] != __version__ or content["task"] != task.name:
            return None
        return {split: _made(content["splits"][split]) for split in SPLITS}
    except (KeyError, TypeError, ValueError):
        raise DataError("not a manifest of schema 1.", path) from None


def _made(entry: Mapping[str, Any]) -> Made:
    made = Made(entry["sha256"], entry["examples_sha256"], entry["count"])
    if not (isinstance(made.sha256, str) and isinstance(made.examples, str) and type(made.count) is int):
        raise TypeError
    return made


def file_hash(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
