"""The data of tasks: read and hashed once a command, and handed to its worker processes as files they map."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from blurb import data, tasks
from blurb.corpora.originals.loading import load_original
from blurb.data import TaskData
from blurb.data.splits import path_of

MOST = 2 * 2**30
"""Bytes of examples that stay in memory; all of BLURB takes a tenth of a GiB. What does not fit is read again."""
INDEX = "index.json"


@dataclass(frozen=True)
class Origin:
    """Where the examples of a task come from: a folder in the BLURB layout, or of the original releases.

    :param task: its name, or the file that declares it: a worker process knows no task file by name
    """

    task: str
    folder: Path
    original: bool = False


Stamp = list[list[int]]
"""Size and time of the file of every split: another stamp, and the data are read and hashed anew."""
_kept: OrderedDict[Origin, tuple[Stamp, TaskData]] = OrderedDict()
_hashes: dict[Origin, tuple[Stamp, str]] = {}
_handed: list[Path] = []
"""In a worker process: the folder that the command handed over."""


def load_data(origin: Origin) -> TaskData:
    """The data of a task: kept from before, or handed over by the command, or read and hashed now."""
    stamp = _stamp(origin)
    if origin not in _kept or _kept[origin][0] != stamp:
        load = load_original if origin.original else data.load
        content = _from_command(origin, stamp) or load(tasks.get(origin.task), origin.folder)
        _kept[origin] = stamp, content
    _kept.move_to_end(origin)
    while len(_kept) > 1 and sum(_bytes(content) for _, content in _kept.values()) > MOST:
        _kept.popitem(last=False)
    return _kept[origin][1]


def data_hash(origin: Origin) -> str:
    """The data hash of a task, for planning: all hashes fit into memory, all the data may not."""
    stamp = _stamp(origin)
    if origin not in _hashes or _hashes[origin][0] != stamp:
        _hashes[origin] = stamp, load_data(origin).hash
    return _hashes[origin][1]


def _stamp(origin: Origin) -> Stamp:
    """Nothing for an original release, whose files only its reader knows: it is read once a process."""
    if origin.original:
        return []
    task = tasks.get(origin.task)
    found = []
    for split in tasks.SPLITS:
        with contextlib.suppress(OSError):  # the reader says what is missing, and where
            status = path_of(task, origin.folder, split).stat()
            found.append([status.st_size, status.st_mtime_ns])
    return found


def _bytes(content: TaskData) -> int:
    return sum(int(split.data.nbytes) for split in content.splits.values())


@contextmanager
def handed_over(origins: Iterable[Origin]) -> Iterator[Path | None]:
    """A folder with what this process has of these data, for `receive`; None where nothing can be written.

    A full disk costs time, never a run: a worker reads for itself what it does not find.
    """
    try:
        temporary = tempfile.TemporaryDirectory(prefix="blurb-")
    except OSError:
        yield None
        return
    with temporary as name:
        folder = Path(name)
        with contextlib.suppress(OSError):
            _write(folder, [origin for origin in dict.fromkeys(origins) if origin in _kept])
        yield folder


def _write(folder: Path, origins: list[Origin]) -> None:
    import pyarrow

    index = []
    for number, origin in enumerate(origins):
        stamp, content = _kept[origin]
        for split, rows in content.splits.items():
            table = rows.data.table
            path = str(folder / f"{number}.{split}")
            with pyarrow.OSFile(path, "wb") as file, pyarrow.ipc.new_stream(file, table.schema) as stream:
                stream.write_table(table)
        index.append({"origin": _name(origin), "stamp": stamp, "hash": content.hash, "verdict": content.verdict})
    (folder / INDEX).write_text(json.dumps(index), encoding="utf-8")  # last: with it everything is whole


def receive(folder: Path | None) -> None:
    """Says in a worker process where the command has put the data that it has read."""
    _handed[:] = [] if folder is None else [folder]


def _from_command(origin: Origin, stamp: Stamp) -> TaskData | None:
    from datasets import Dataset

    with contextlib.suppress(OSError, ValueError):
        for folder in _handed:
            index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
            for number, entry in enumerate(index):
                if entry["origin"] == _name(origin) and entry["stamp"] == stamp:
                    splits = {split: Dataset.from_file(str(folder / f"{number}.{split}")) for split in tasks.SPLITS}
                    return TaskData(tasks.get(origin.task), splits, entry["hash"], entry["verdict"])
    return None


def _name(origin: Origin) -> list[str | bool]:
    return [str(origin.task), str(origin.folder), origin.original]
