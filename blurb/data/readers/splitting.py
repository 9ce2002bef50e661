"""One file of a corpus cut into train, dev and test, as its lines stand."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from blurb.data.raw import ANSWERS
from blurb.data.readers import task_file
from blurb.grouping import by_key
from blurb.messages import DataError
from blurb.table_files import csv_rows, text_of
from blurb.tasks import SPLITS, Split

TEXTS = ("tokens", "text", "text_a", "text_b", "question", "context")
"""Fields that an encoder reads."""


class Row(NamedTuple):
    """An example as it stands in the file.

    :param said: its texts
    :param label: of the class that is spread evenly
    :param at: number of lines before it
    """

    said: str
    label: str
    at: int
    text: str


def split(path: Path, kind: str, form: str, shares: Sequence[float], seed: int) -> dict[Split, str]:
    """The content of the file of each split.

    Rows of one document, or of equal text, stay on one side. Classes are spread evenly where there are no documents.

    :param shares: of the splits, in any unit
    :raises DataError: (file, line) for an example that cannot be read, or if a split would be empty
    """
    text, parents = text_of(path).replace("\r\n", "\n"), dict[str, str]()

    def root(key: str) -> str:
        while parents.setdefault(key, key) != key:
            key = parents[key]
        return key

    lines, rows = text.split("\n"), list[Row]()
    first = at = next(csv_rows(text, path))[0].number if form == "csv" else int(form == "tsv")
    for line, record in task_file.records(path, kind, form):
        said = " ".join(str([value for name, value in sorted(record.items()) if name in TEXTS]).split())
        document = str(record.get("doc_id") or "")
        parents[root(said)] = root(f"document {document}" if document else said)
        answer = next((record[name] for name in ANSWERS if name in record), "")
        label = "" if document else str(bool({*answer} - {"O"}) if "tags" in record else answer)
        rows.append(Row(said, label, at, "\n".join(lines[at : line.number]).strip("\n")))
        at = line.number
    groups = by_key((root(row.said), row) for row in rows).values()
    drawn = sorted(groups, key=lambda group: (group[0].label, sha256(f"{seed} {group[0].said}".encode()).digest()))
    sides: list[list[Row]] = [[] for _ in SPLITS]
    for group in drawn:  # to the side that lacks most
        there = sum(map(len, sides)) + len(group)
        lacks = [share * there / sum(shares) - len(side) for share, side in zip(shares, sides, strict=True)]
        sides[lacks.index(max(lacks))] += group
    if not all(sides):
        raise DataError(f"{len(drawn)} documents and texts are too few for three splits.", path)
    end = "\n\n" if form == "conll" else "\n"
    parts = [[*lines[:first], *(row.text for row in sorted(side, key=lambda row: row.at))] for side in sides]
    return {name: end.join(part) + end for name, part in zip(SPLITS, parts, strict=True)}
