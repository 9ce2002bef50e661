"""Reading one split with the reader that its task names."""

from __future__ import annotations

import importlib
from pathlib import Path

from blurb.data.schema import Row
from blurb.errors import DataError
from blurb.tasks import Split, Task


def read_split(task: Task, folder: Path, split: Split) -> list[Row]:
    """The rows of one split; DataError (file, line, what was expected) if the file is not what it should be."""
    module, _, function = task.reader.partition(":")
    path = folder / task.files[split]
    rows = list(getattr(importlib.import_module(module), function)(path, task, split))
    seen: set[str] = set()
    for row in rows:
        if row["id"] in seen:
            raise DataError(f"the id {row['id']!r} stands in the file twice.", path)
        seen.add(row["id"])
    if not rows:
        raise DataError("the file has no examples.", path)
    return rows
