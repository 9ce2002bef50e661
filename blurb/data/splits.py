"""Reads one split, with the task's own reader or that of LinkBERT's layout."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path

from blurb.data.readers import linkbert
from blurb.data.readers._examples import telling_cuts
from blurb.data.schema import Example
from blurb.messages.errors import FIRST, DataError, ErrorCollector
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


def read_split(task: Task, folder: Path, split: Split, errors: ErrorCollector = FIRST) -> list[Example]:
    """Reads the examples of one split.

    :param errors: gets what is wrong (file, line, what was expected); by default the first fault is raised
    """
    path, before = path_of(task, folder, split), len(errors.errors)
    if not path.exists():
        errors.add(DataError("the file is missing (docs/data.md describes BLURB's layout).", path))
        return []
    ours = path == folder / task.files[split]
    read = load_object(task.reader, f"reader of {task.name}") if ours else linkbert.read
    more = [errors] if "errors" in inspect.signature(read).parameters else []  # a reader of others may have none
    with telling_cuts(path):
        rows = errors.tried(lambda: list(read(path, task, split, *more))) or []
    seen: set[str] = set()
    for row in rows:
        if row["id"] in seen:
            errors.add(DataError(f"the id {row['id']!r} occurs twice in the file.", path))
        seen.add(row["id"])
    if not rows and len(errors.errors) == before:
        errors.add(DataError("the file contains no examples.", path))
    return rows
