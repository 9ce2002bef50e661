"""Original releases that have more than the BLURB layout, whose files have dummies in place of the entities of a pair.

A relation task is loaded with its original text from the original release or from prepared JSON lines.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from blurb.corpora.originals import rows as prepared
from blurb.data.loading import TaskData, identified
from blurb.inputs.relations import dummified
from blurb.messages.errors import DataError
from blurb.messages.spelling import opt
from blurb.registry import load_object
from blurb.tasks import SPLITS, Split, Task


def load_original(task: Task, folder: Path, splits: Iterable[Split] = SPLITS) -> TaskData:
    """Loads all splits of a relation task with the original text and the spans of the entities.

    Reads prepared JSON lines (`blurb.corpora.originals.rows`) if the folder has them for this task, otherwise the
    original release. The hash is that of these examples; the verdict is that of their dummified form, which is what
    BLURB publishes.
    """
    if not folder.is_dir():
        raise DataError(
            "the folder of the original releases does not exist", folder, fix=f"check the path given with {opt('raw')}."
        )
    is_prepared = prepared.are_there(folder, task)
    read = prepared.read if is_prepared else load_object(task.original, f"reader of the originals of {task.name}")
    rows = {split: list(read(folder, task, split)) for split in splits}
    for split, examples in rows.items():
        if not examples:
            raise DataError(f"the originals of {task.name} have no examples for {split}.", folder)
    published = {split: [dummified(row) for row in examples] for split, examples in rows.items()}
    return replace(identified(task, rows), verdict=identified(task, published).verdict)
