"""The train texts of the datasets as documents: each text once, and never with dummies in the place of entities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from blurb import tasks
from blurb.corpora.originals import load_original
from blurb.corpora.releases import MissingRelease
from blurb.data import read_split
from blurb.data.loading import path_of
from blurb.data.schema import Example, texts
from blurb.extensions.lab.text.documents import TextDocument
from blurb.messages.errors import DataError
from blurb.messages.spelling import opt
from blurb.tasks import Task

BLOCK = 20
"""Sentences of a document, for sets that do not say where one ends: their sentences follow one another."""


@dataclass(frozen=True)
class TrainTexts:
    """The train texts of a data folder.

    :param missing: dataset of the folder -> why no text of it without dummies is there
    """

    documents: Sequence[TextDocument]
    missing: Mapping[str, str]


def read(folder: Path, raw: Path | None = None, chosen: Sequence[Task] = ()) -> TrainTexts:
    """The documents of the train sets. Sets with dummies are read from their originals, and left out without them.

    :param raw: folder of the original releases
    :param chosen: the datasets; all by default
    :raises DataError: if there is no train text at all, or for files that are there and cannot be read
    """
    seen: set[str] = set()
    there: list[TextDocument] = []
    missing = {}
    for task in chosen or tasks.all():
        if not path_of(task, folder, "train").exists():
            continue
        try:
            rows = _rows(task, folder, raw)
        except MissingRelease as error:
            missing[task.name] = str(error)
            continue
        for document in _documents(rows):
            lines = [line for line in document.text.split("\n") if line.casefold() not in seen]
            seen.update(line.casefold() for line in lines)
            if lines:
                there.append(TextDocument("\n".join(lines), document.pmid))
    if not there:
        raise DataError(
            "has no train text that has no dummies", folder, fix=f"check {opt('data')}, or add {opt('raw')}."
        )
    return TrainTexts(there, missing)


def _rows(task: Task, folder: Path, raw: Path | None) -> Sequence[Example]:
    if not task.dummified:
        return read_split(task, folder, "train")
    if not task.original:
        raise MissingRelease("nothing is known of its originals.")
    if raw is None:
        raise MissingRelease(f"{opt('raw')} was not given.")
    return list(load_original(task, raw, ("train",)).splits["train"])


def _documents(rows: Sequence[Example]) -> Iterator[TextDocument]:
    """Texts of one document a line each; where documents are not named, blocks of neighbours."""
    numbered = enumerate(rows)
    for (name, _), group in groupby(numbered, key=lambda each: _key(*each)):
        lines = [" ".join(text.split()) for _, row in group for text in texts(row)]
        yield TextDocument("\n".join(dict.fromkeys(lines)), name if name.isdigit() else "")


def _key(place: int, row: Example) -> tuple[str, int]:
    name = str(row.get("doc_id") or "")
    return name, 0 if name else place // BLOCK
