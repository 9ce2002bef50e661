"""Reading `manifest.json` at the top of a data folder, which `blurb.corpora.manifest` writes.

It has every prepared dataset, from what, by what, and what came out:

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

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blurb import __version__
from blurb.errors import DataError
from blurb.tasks import SPLITS, Split, Task

SCHEMA = 1
NAME = "manifest.json"


@dataclass(frozen=True)
class ManifestSplit:
    """What a manifest says of one split: hash of the file, hash of its examples, their count."""

    sha256: str
    examples: str
    count: int


def path_of(folder: Path) -> Path:
    """Where the manifest of a data folder is."""
    return folder / NAME


def read(folder: Path, task: Task) -> dict[Split, ManifestSplit] | None:
    """What the manifest says of a task; None if there is nothing that this version can rely on.

    An entry of another version is not relied on: its readers may have seen other examples in the same file.

    :raises DataError: it is damaged
    """
    path = path_of(folder)
    found = (datasets(path) or {}).get(task.name)
    if found is None:
        return None
    try:
        if found["made_by"]["blurb"] != __version__:
            return None
        return {split: _split(found["splits"][split]) for split in SPLITS}
    except (KeyError, TypeError):
        raise DataError(f"what it says of {task.name} is not of schema {SCHEMA}.", path) from None


def datasets(path: Path) -> dict[str, Any] | None:
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


def _split(entry: Mapping[str, Any]) -> ManifestSplit:
    split = ManifestSplit(entry["sha256"], entry["examples_sha256"], entry["count"])
    if not (isinstance(split.sha256, str) and isinstance(split.examples, str) and type(split.count) is int):
        raise TypeError
    return split
