"""Writes the examples of a data folder with their ids, for tools that read no BLURB layout (`blurb data export`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from blurb.data.readers._files import ID_LINE
from blurb.data.schema import Example
from blurb.data.splits import path_of, read_split
from blurb.messages.errors import SettingsError
from blurb.system.files import replacing, write_whole
from blurb.tasks import SPLITS, Task


def jsonl(rows: Sequence[Example], task: Task, path: Path) -> None:
    """One example a line; the columns are those of `blurb.data.schema`."""
    write_whole(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())


def parquet(rows: Sequence[Example], task: Task, path: Path) -> None:
    """The same columns; positions of entities are structures."""
    import pyarrow
    import pyarrow.parquet

    with replacing(path) as aside:
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows)), aside, compression="zstd")


def conll(rows: Sequence[Example], task: Task, path: Path) -> None:
    """A word and its tag a line, a blank line between sentences, the id of each in a line before it."""
    sentences = []
    for row in rows:
        words = "".join(f"{word}\t{tag}\n" for word, tag in zip(row["tokens"], row["tags"], strict=True))
        sentences.append(f"{ID_LINE} {row['id']}\n{words}")
    write_whole(path, "\n".join(sentences).encode())


FORMATS: Mapping[str, Callable[[Sequence[Example], Task, Path], None]] = {
    "jsonl": jsonl,
    "parquet": parquet,
    "conll": conll,
}


def export(chosen: Sequence[Task], folder: Path, out: Path, form: str) -> list[Path]:
    """Writes the splits of tasks as `out/TASK/SPLIT.FORM`; a split that the data lacks is left out.

    :param form: a key of `FORMATS`; `conll` is for tasks of tagged words
    :returns: the files that were written
    :raises SettingsError: if a task has no words, before anything is written
    :raises DataError: for data that is missing or invalid
    """
    untagged = [task.name for task in chosen if form == "conll" and "tokens" not in task.task_type.columns]
    if untagged:
        raise SettingsError(f"CoNLL is for tagged words, which {', '.join(untagged)} have not", fix="export as jsonl.")
    written = []
    for task in chosen:
        for split in SPLITS:
            if len(chosen) > 1 and not path_of(task, folder, split).exists():
                continue
            path = out / task.name / f"{split}.{form}"
            path.parent.mkdir(parents=True, exist_ok=True)
            FORMATS[form](read_split(task, folder, split), task, path)
            written.append(path)
    return written
