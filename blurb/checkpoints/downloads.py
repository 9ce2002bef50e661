"""Folders that `blurb models download` wrote: each says which revision of which repository it holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from blurb.checkpoints.reading import read_json
from blurb.messages.errors import ModelError
from blurb.system.files import write_json

RECORD = "blurb-download.json"


@dataclass(frozen=True)
class Record:
    """Where the files of a folder are from.

    :param revision: hash of the commit
    :param asked: the branch, tag or commit that was asked for; "" for the default
    :param remote_code: whether the checkpoint's own code was fetched
    :param sizes: bytes of each file
    """

    repository: str
    revision: str
    asked: str
    remote_code: bool
    sizes: Mapping[str, int]


def read(folder: Path) -> Record | None:
    """The record of a folder; None if it is no download.

    :raises ModelError: if the record is invalid
    """
    if not (folder / RECORD).is_file():
        return None
    content = read_json(folder, RECORD)
    texts = (content.get(name) for name in ("repository", "revision", "asked"))
    if content.keys() != set(Record.__annotations__) or not all(isinstance(text, str) for text in texts):
        raise ModelError(f"{RECORD} is not as blurb models download writes it", where=folder, fix="remove that file.")
    return Record(**content)


def write(folder: Path, repository: str, revision: str, asked: str, remote_code: bool) -> Record:
    """Writes the record of the files that are in a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != RECORD)
    sizes = {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}
    record = Record(repository, revision, asked, remote_code, sizes)
    write_json(folder / RECORD, asdict(record))
    return record


def damaged(folder: Path, record: Record) -> list[str]:
    """The files that are not there any more, or have another size."""
    return [
        name
        for name, size in record.sizes.items()
        if not (folder / name).is_file() or (folder / name).stat().st_size != size
    ]
