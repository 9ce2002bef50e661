"""Reads one split, with the task's own reader or that of LinkBERT's layout."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from blurb.data.readers import linkbert
from blurb.data.readers._files import telling_cuts
from blurb.data.schema import Example
from blurb.messages.errors import DataError
from blurb.messages.text import option
from blurb.registry import load_object
from blurb.tasks import SPLITS, Split, Task

ORIGINALS = frozenset({".zip", ".gz", ".tgz", ".tar", ".rar", ".docx", ".iob2", ".xml", ".ann"})
"""Endings of files of the original releases, which BLURB's files never have."""


def path_of(task: Task, folder: Path, split: Split) -> Path:
    """Path of a split: BLURB's file, or LinkBERT's if only that exists."""
    path = folder / task.files[split]
    other = linkbert.path_of(folder, task, split)
    return other if other is not None and other.is_file() and not path.exists() else path


def elsewhere(tasks: Sequence[Task], folder: Path) -> str:
    """A hint if the files are one folder up or down, or if these are originals and not BLURB's files."""
    relative = [task for task in tasks if not task.file]
    below = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    for other in (folder.resolve().parent, *below):
        if any(path_of(task, other, split).is_file() for task in relative for split in SPLITS):
            return f" Did you mean{option('--data', other)}?"
    if any(path.suffix.lower() in ORIGINALS for depth in ("*", "*/*", "*/*/*") for path in folder.glob(depth)):
        return (
            " There are files of original releases here; BLURB's files are made from them by "
            f"blurb data prepare{option('--raw', folder)} --out DATA"
        )
    return ""


def read_split(task: Task, folder: Path, split: Split) -> list[Example]:
    """Reads the examples of one split; DataError (file, line, what was expected) if the file is invalid."""
    path = path_of(task, folder, split)
    ours = path == folder / task.files[split]
    read = load_object(task.reader, f"reader of {task.name}") if ours else linkbert.read
    with telling_cuts(path):
        rows = list(read(path, task, split))
    seen: set[str] = set()
    for row in rows:
        if row["id"] in seen:
            raise DataError(f"the id {row['id']!r} occurs twice in the file.", path)
        seen.add(row["id"])
    if not rows:
        raise DataError("the file contains no examples.", path)
    return rows
