"""Folders that earlier versions of blurb downloaded: each says which revision of which repository it holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from blurb.checkpoints.reading import read_json
from blurb.messages.errors import ModelError

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
        raise ModelError(f"{RECORD} is no record of a download", where=folder, fix="remove that file.")
    return Record(**content)
