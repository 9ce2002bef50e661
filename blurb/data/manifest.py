"""Reads `manifest.json` in a data folder, which `blurb.corpora.manifest` writes.

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

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blurb import __version__
from blurb.messages.errors import DataError
from blurb.system.files import read_bytes
from blurb.tasks import SPLITS, Split, Task

SCHEMA = 1
NAME = "manifest.json"


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
        return {split: _split(entry["splits"][split]) for split in SPLITS}
    except (KeyError, TypeError):
        raise DataError(f"the entry of {task.name} does not follow schema {SCHEMA}.", path) from None


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


def _split(entry: Mapping[str, Any]) -> ManifestSplit:
    split = ManifestSplit(entry["sha256"], entry["examples_sha256"], entry["count"])
    if not (isinstance(split.sha256, str) and isinstance(split.examples, str) and type(split.count) is int):
        raise TypeError
    return split
