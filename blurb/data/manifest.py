"""`manifest.json` in a data folder, which `blurb data prepare` writes and whoever verifies the data reads.

It lists every prepared dataset with its sources, the versions that made it, and the resulting files:

    {"schema": 1, "datasets": {"gad": {
      "made_by": {"blurb": "0.1.0"},
      "sources": [{"path": "GAD/1/train.tsv", "sha256": "..."}, {"path": "hoc/text/*", "files": 1852, "sha256": "..."}],
      "splits": {"train": {"file": "GAD/train.tsv", "sha256": "...", "examples_sha256": "...", "count": 4261}, ...}}}}

The manifest lies beside the datasets' folders, so that these contain only BLURB's files (`diff -r`). Paths are relative
to the folder of the originals and to the manifest, and there is no time stamp: two runs over the same files give the
same bytes. `examples_sha256` is `blurb.data.schema.hash_rows`; `count` is in the unit of the task. Many files in one
folder are one source; its hash is over the lines `<sha256>  <name>` of all files, sorted by name.
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
from blurb.grouping import by_key
from blurb.messages import DataError
from blurb.system import leases
from blurb.system.files import file_hash, read_bytes, replacing_file
from blurb.tasks import SPLITS, Split, Task

if TYPE_CHECKING:
    from blurb.data.loading import DatasetVerification

SCHEMA = 1
NAME = "manifest.json"
MANY = 20
"""Maximum number of files of one folder that are listed separately; more are one source."""


@dataclass(frozen=True)
class ManifestSplit:
    """Entry of one split: hash of the file, hash of its examples, their count."""

    sha256: str
    examples: str
    count: int


def path_of(folder: Path) -> Path:
    """Path of the manifest of a data folder."""
    return folder / NAME


def read(folder: Path, task: Task) -> dict[Split, ManifestSplit] | None:
    """Reads the entry of a task; None if there is none that this version can use.

    Entries of other versions of blurb are not used: their readers may have read the same file differently.

    :raises DataError: if the manifest is damaged
    """
    path = path_of(folder)
    entry = (datasets(path) or {}).get(task.name)
    if entry is None:
        return None
    try:
        if entry["made_by"]["blurb"] != __version__:
            return None
        return {split: _make_split(entry["splits"][split]) for split in SPLITS}
    except (KeyError, TypeError):
        raise DataError(
            f"the entry of {task.name} does not follow schema {SCHEMA}.", path
        ) from None


def datasets(path: Path) -> dict[str, Any] | None:
    """Entries by task; None if the manifest is missing or of another schema. DataError if it is damaged."""
    try:
        content = json.loads(read_bytes(path))
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


def _make_split(entry: Mapping[str, Any]) -> ManifestSplit:
    split = ManifestSplit(entry["sha256"], entry["examples_sha256"], entry["count"])
    if not (
        isinstance(split.sha256, str)
        and isinstance(split.examples, str)
        and type(split.count) is int
    ):
        raise TypeError
    return split


def task_folder(task: Task) -> str:
    """Folder of a task's files below the data folder; DataError if it is the data folder itself."""
    folder = os.path.commonpath([PurePosixPath(task.files[split]).parent for split in SPLITS])
    if folder in ("", ".", "/"):
        raise DataError(
            f"the files of {task.title} have no folder of their own, so the folder cannot be replaced."
        )
    return folder


def entry(folder: Path, found: DatasetVerification, sources: Mapping[str, str]) -> dict[str, Any]:
    """The manifest entry of a task whose files are below `folder` and were verified as `found`.

    :param sources: path of each file of the release that was read -> its SHA-256
    """
    return {
        "made_by": {"blurb": __version__},
        "sources": _sources_read(sources),
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
                    raise DataError(
                        f"has another schema than {SCHEMA}; another version of blurb wrote it.",
                        path,
                    )
            except DataError as error:
                before = {}
                warnings.append(
                    f"{error} It was replaced; datasets prepared before will be read in full."
                )
            content = {"schema": SCHEMA, "datasets": dict(sorted({**before, name: made}.items()))}
            with replacing_file(path) as aside:
                aside.write_bytes(
                    f"{json.dumps(content, indent=1, ensure_ascii=False)}\n".encode(
                        "utf-8", "replace"
                    )
                )
    except OSError as error:
        raise DataError(
            f"cannot be written: {error.strerror or error}. The files of {name} are complete nevertheless.",
            path,
        ) from error
    return warnings


def _sources_read(read: Mapping[str, str]) -> list[dict[str, Any]]:
    folders = by_key((PurePosixPath(path).parent.as_posix(), path) for path in sorted(read))
    sources: list[dict[str, Any]] = []
    for folder, paths in folders.items():
        if len(paths) <= MANY:
            sources += [{"path": path, "sha256": read[path]} for path in paths]
            continue
        lines = "".join(f"{read[path]}  {PurePosixPath(path).name}\n" for path in paths)
        sources.append(
            {
                "path": f"{folder}/*",
                "files": len(paths),
                "sha256": hashlib.sha256(lines.encode("utf-8", "replace")).hexdigest(),
            }
        )
    return sources
