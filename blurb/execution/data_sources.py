"""The data of tasks: read and hashed once per command, and shared with its workers as memory-mapped files."""

from __future__ import annotations

import json
import tempfile
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from blurb import data, tasks
from blurb.corpora.original_readers import load_original
from blurb.data.loading import Verdict, path_of

MOST_BYTES = 2 * 2**30
"""Bytes of examples kept in memory; all of BLURB takes a tenth of a GiB. Data beyond it is read again when needed."""
INDEX = "index.json"


@dataclass(frozen=True)
class DataSource:
    """The source of a task's examples: a folder in BLURB's layout, or of the original releases.

    :param task: its name, or its task file, as worker processes do not know task files by name; it was typed, or is of
        a sweep that may run
    """

    task: str
    folder: Path
    original: bool = False


Stamp = list[list[int]]
"""Size and modification time of the task file and of the file of each split; if one changes, the data is read again."""
_kept: OrderedDict[DataSource, tuple[Stamp, data.TaskData]] = OrderedDict()
_facts: dict[DataSource, tuple[Stamp, str, Verdict]] = {}
"""Hash and verdict; unlike the data, those of all tasks always fit into memory."""
_handed: list[Path] = []
"""In a worker process: the folder with the data that the command has read."""


def load_data(origin: DataSource) -> data.TaskData:
    """The data of a task: from memory, from the command, or read and hashed now."""
    stamp = _stamp_of_data(origin)
    if origin not in _kept or _kept[origin][0] != stamp:
        load = load_original if origin.original else data.load_task
        content = _from_command(origin, stamp) or load(tasks.load(origin.task), origin.folder)
        _kept[origin] = stamp, content
    _kept.move_to_end(origin)
    sizes = [
        sum(int(split.data.nbytes) for split in content.splits.values())
        for _, content in _kept.values()
    ]
    while len(_kept) > 1 and sum(sizes[-len(_kept) :]) > MOST_BYTES:
        _kept.popitem(last=False)
    return _kept[origin][1]


def data_hash(origin: DataSource) -> str:
    """The data hash of a task, for planning."""
    return _facts_of(origin)[1]


def data_verdict(origin: DataSource) -> Verdict:
    """Whether the data of a task is BLURB's."""
    return _facts_of(origin)[2]


def _facts_of(origin: DataSource) -> tuple[Stamp, str, Verdict]:
    stamp = _stamp_of_data(origin)
    if origin not in _facts or _facts[origin][0] != stamp:
        content = load_data(origin)
        _facts[origin] = stamp, content.hash, content.verdict
    return _facts[origin]


def _stamp_of_data(origin: DataSource) -> Stamp:
    """The stamp of the data; empty for original releases, which are read once per process."""
    if origin.original:
        return []
    task = tasks.load(origin.task)
    parts = []
    # The user may have edited labels and metric since.
    declared = [Path(origin.task)] if origin.task.endswith(tasks.SUFFIX) else []
    for path in (*declared, *(path_of(task, origin.folder, split) for split in tasks.SPLITS)):
        with suppress(OSError):  # the reader says what is missing, and where
            status = path.stat()
            parts.append([status.st_size, status.st_mtime_ns])
    return parts


@contextmanager
def handed_over(origins: Iterable[DataSource]) -> Iterator[Path | None]:
    """A folder with the data that this process has read, for `receive`; None if it cannot be written.

    A full disk never fails a run: a worker itself reads data that it does not find.
    """
    try:
        temporary = tempfile.TemporaryDirectory(prefix="blurb-")
    except OSError:
        yield None
        return
    with temporary as name:
        folder = Path(name)
        with suppress(OSError):
            _write_manifest(
                folder, [origin for origin in dict.fromkeys(origins) if origin in _kept]
            )
        yield folder


def _write_manifest(folder: Path, origins: list[DataSource]) -> None:
    import pyarrow

    index = []
    for number, origin in enumerate(origins):
        stamp, content = _kept[origin]
        for split, rows in content.splits.items():
            table = rows.data.table
            path = str(folder / f"{number}.{split}")
            with (
                pyarrow.OSFile(path, "wb") as file,
                pyarrow.ipc.new_stream(file, table.schema) as stream,
            ):
                stream.write_table(table)
        index.append(
            {
                "origin": _name_of_source(origin),
                "stamp": stamp,
                "hash": content.hash,
                "verdict": content.verdict,
            }
        )
    # The index is written last: with it, everything is complete.
    (folder / INDEX).write_text(json.dumps(index), encoding="utf-8")


def receive(folder: Path | None) -> None:
    """Tells a worker process the folder with the data that the command has read."""
    _handed[:] = [] if folder is None else [folder]


def _from_command(origin: DataSource, stamp: Stamp) -> data.TaskData | None:
    from datasets import Dataset

    with suppress(OSError, ValueError):
        for folder in _handed:
            for number, entry in enumerate(
                json.loads((folder / INDEX).read_text(encoding="utf-8"))
            ):
                if entry["origin"] == _name_of_source(origin) and entry["stamp"] == stamp:
                    splits = {
                        split: Dataset.from_file(str(folder / f"{number}.{split}"))
                        for split in tasks.SPLITS
                    }
                    return data.TaskData(
                        tasks.load(origin.task), splits, entry["hash"], entry["verdict"]
                    )
    return None


def _name_of_source(origin: DataSource) -> list[str | bool]:
    return [str(origin.task), str(origin.folder), origin.original]
