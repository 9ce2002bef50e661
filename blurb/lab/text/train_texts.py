"""The train texts of the datasets as documents: each text once, and never with dummies in the place of entities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from blurb import tasks
from blurb.corpora.originals.loading import load_original
from blurb.data import read_split
from blurb.data.examples import texts
from blurb.data.schema import Example
from blurb.data.splits import path_of
from blurb.lab.text.documents import Document
from blurb.messages.errors import DataError
from blurb.tasks import Task

BLOCK = 20
"""Sentences of a document, for sets that do not say where one ends: their sentences follow one another."""


def read(folder: Path, raw: Path | None = None, chosen: Sequence[Task] = ()) -> Iterator[Document]:
    """The documents of the train sets.

    Sets with dummies are read from their originals, and left out without them.

    :param raw: folder of the original releases
    :param chosen: the datasets; all by default
    :raises DataError: if there is no train text at all
    """
    seen: set[str] = set()
    for task in chosen or tasks.all():
        for document in _documents(_rows(task, folder, raw)):
            lines = [line for line in document.text.split("\n") if line.casefold() not in seen]
            seen.update(line.casefold() for line in lines)
            if lines:
                yield Document("\n".join(lines), document.pmid)
    if not seen:
        raise DataError("has no train text that has no dummies", folder, fix="check --data, or add --raw.")


def left_out(folder: Path, raw: Path | None = None, chosen: Sequence[Task] = ()) -> list[str]:
    """The datasets of the folder of which no text without dummies is there."""
    masked = (task for task in chosen or tasks.all() if task.dummified)
    there = (task for task in masked if path_of(task, folder, "train").is_file())
    return [task.name for task in there if raw is None or not task.original]


def _rows(task: Task, folder: Path, raw: Path | None) -> Sequence[Example]:
    try:
        if not task.dummified:
            return list(read_split(task, folder, "train"))
        if task.original and raw is not None:
            return list(load_original(task, raw, ("train",)).splits["train"])
    except DataError:  # a set that this folder lacks
        pass
    return ()


def _documents(rows: Sequence[Example]) -> Iterator[Document]:
    """Texts of one document a line each; where documents are not named, blocks of neighbours."""
    numbered = enumerate(rows)
    for (name, _), group in groupby(numbered, key=lambda each: _key(*each)):
        lines = [" ".join(text.split()) for _, row in group for text in texts(row)]
        yield Document("\n".join(dict.fromkeys(lines)), name if name.isdigit() else "")


def _key(place: int, row: Example) -> tuple[str, int]:
    name = str(row.get("doc_id") or "")
    return name, 0 if name else place // BLOCK
