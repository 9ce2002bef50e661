"""`manifest.json` at the top of a data folder: every prepared dataset, from what, by what, and what came out.

    {"schema": 1, "datasets": {"gad": {
      "made_by": {"blurb": "0.1.0"},
      "sources": [{"path": "GAD/1/train.tsv", "sha256": "..."}, {"path": "hoc/text/*", "files": 1852, "sha256": "..."}],
      "splits": {"train": {"file": "GAD/train.tsv", "sha256": "...", "examples_sha256": "...", "count": 4261}, ...}}}}

It is one file beside the folders of the datasets, so that these hold BLURB's files and nothing else (`diff -r`). Paths
are relative, to the folder of the originals and to the manifest: no file names a user's machine. There is no time in
it, so two runs over the same files give the same bytes. `examples_sha256` is `blurb.data.schema.hash_rows`; `count` is
in the unit of the task. Many files of one folder are one source, whose hash is over the lines `<sha256>  <name>` of
all, in the order of their names.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from filelock import FileLock

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


def path_of(folder: Path) -> Path:
    """Where the manifest of a data folder is."""
    return folder / NAME


def entry(folder: Path, found: Finding, release: Release) -> dict[str, Any]:
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
                found = _datasets(path)
                datasets = found or {}
                if found is None and path.exists():
                    raise DataError(f"is of another schema than {SCHEMA}, of another version of blurb.", path)
            except DataError as error:
                datasets = {}
                told.append(f"{error} It was begun anew; datasets prepared before are read in full.")
            content = {"schema": SCHEMA, "datasets": dict(sorted({**datasets, name: made}.items()))}
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


def read(folder: Path, task: Task) -> dict[Split, Made] | None:
    """What the manifest says of a task; None if there is nothing that this version can rely on.

    An entry of another version is not relied on: its readers may have seen other examples in the same file.

    :raises DataError: it is damaged
    """
    path = path_of(folder)
    found = (_datasets(path) or {}).get(task.name)
    if found is None:
        return None
    try:
        if found["made_by"]["blurb"] != __version__:
            return None
        return {split: _made(found["splits"][split]) for split in SPLITS}
    except (KeyError, TypeError):
        raise DataError(f"what it says of {task.name} is not of schema {SCHEMA}.", path) from None


def _datasets(path: Path) -> dict[str, Any] | None:
    """The entries by task; None if there is no manifest, or one of another schema. DataError if it is damaged."""
    try:
        content = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"cannot be read: {error}.", path) from None
    try:
        if content["schema"] != SCHEMA:
            return None
        return dict(content["datasets"].items())
    except (KeyError, TypeError, AttributeError):
        raise DataError(f"not a manifest of schema {SCHEMA}.", path) from None


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
