"""Writes the examples of a data folder with their ids, for tools that read no BLURB layout (`blurb data export`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from blurb.data.loading import path_of, read_split
from blurb.data.schema import Example
from blurb.messages import DataError, SettingsError
from blurb.system.files import replacing_file, write_whole
from blurb.table_files import ID_LINE, read_sentences
from blurb.tasks import SPLITS, Task


def jsonl(rows: Sequence[Example], path: Path) -> None:
    """One example a line; the columns are those of `blurb.data.schema`."""
    write_whole(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())


def parquet(rows: Sequence[Example], path: Path) -> None:
    """The same columns; positions of entities are structures."""
    import pyarrow.parquet

    with replacing_file(path) as aside:
        pyarrow.parquet.write_table(
            pyarrow.Table.from_pylist(list(rows)), aside, compression="zstd"
        )


def conll(rows: Sequence[Example], path: Path) -> None:
    """A word and its tag a line, a blank line between sentences, the id of each in a line before it."""
    write_whole(path, "\n".join(_lines_of_sentence(row, path) for row in rows).encode())


def _lines_of_sentence(row: Example, path: Path) -> str:
    """The lines of a sentence; a DataError if they would be read as something else, such as a word with a TAB."""
    cells = [[word, tag] for word, tag in zip(row["tokens"], row["tags"], strict=True)]
    block = f"{ID_LINE} {row['id']}\n" + "".join(f"{word}\t{tag}\n" for word, tag in cells)
    try:
        ((_, read),) = read_sentences(block, path)
    except (DataError, ValueError):
        read = None
    if read is None or (read.id, read.rows) != (row["id"], cells):
        raise DataError(
            f"CoNLL cannot hold the sentence {row['id']!r}: a word has a TAB or a line end, or begins as a comment",
            fix="export as jsonl or parquet.",
        )
    return block


FORMATS: Mapping[str, Callable[[Sequence[Example], Path], None]] = {
    "jsonl": jsonl,
    "parquet": parquet,
    "conll": conll,
}


def export_tasks(chosen: Sequence[Task], folder: Path, out: Path, form: str) -> list[Path]:
    """Writes the splits of tasks as `out/TASK/SPLIT.FORM`; a split that the data lacks is left out.

    :param form: a key of `FORMATS`; `conll` is for tasks of tagged words
    :returns: the files that were written
    :raises SettingsError: if a task has no words, before anything is written
    :raises DataError: for data that is missing or invalid
    """
    untagged = [
        task.name for task in chosen if form == "conll" and "tokens" not in task.task_type.columns
    ]
    if untagged:
        raise SettingsError(
            f"CoNLL is for tagged words, which {', '.join(untagged)} have not",
            fix="export as jsonl.",
        )
    written = []
    for task in chosen:
        for split in SPLITS:
            if not path_of(task, folder, split).exists():
                continue
            rows, path = read_split(task, folder, split), out / task.name / f"{split}.{form}"
            path.parent.mkdir(parents=True, exist_ok=True)
            FORMATS[form](rows, path)
            written.append(path)
    return written
