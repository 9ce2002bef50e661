"""One file of a corpus cut into train, dev and test, as its lines stand."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from blurb.data.readers.task_file import read_records
from blurb.grouping import by_key
from blurb.messages import DataError
from blurb.table_files import csv_rows, text_of
from blurb.tasks import SPLITS, Split

TEXTS = ("tokens", "text", "text_a", "text_b", "question", "context")
"""Fields that an encoder reads."""


def cut(path: Path, kind: str, form: str, shares: Sequence[float], seed: int) -> dict[Split, str]:
    """One file of a corpus as three, the lines as they stand.

    Examples of one document, or of equal text, stay together. Classes are spread evenly where there are no documents.

    :param shares: of train, dev and test, with the sum 1
    :raises DataError: (file, line) for an example that cannot be read, or if a split would be empty
    """
    text, parents, rows = (
        text_of(path).replace("\r\n", "\n"),
        dict[str, str](),
        list[tuple[str, str, int, str]](),
    )
    lines = text.split("\n")

    def root(key: str) -> str:
        while parents.setdefault(key, key) != key:
            key = parents[key]
        return key

    first = at = next(csv_rows(text, path))[0].number if form == "csv" else int(form == "tsv")
    for line, record in read_records(path, kind, form):
        said = " ".join(str([record[name] for name in TEXTS if name in record]).split())
        document = str(record.get("doc_id") or "")
        parents[root(said)] = root(f"document {document}" if document else said)
        answer = (
            bool({*record["tags"]} - {"O"})
            if "tags" in record
            else record.get("label", record.get("labels"))
        )
        rows.append(
            (
                said,
                "" if document else str(answer),
                at,
                "\n".join(lines[at : line.number]).strip("\n"),
            )
        )
        at = line.number
    drawn = sorted(
        by_key((root(row[0]), row) for row in rows).values(),
        key=lambda group: (group[0][1], sha256(f"{seed} {group[0][0]}".encode()).digest()),
    )
    sides: list[list[tuple[str, str, int, str]]] = [[], [], []]
    for group in drawn:  # to the side that lacks most
        there = sum(map(len, sides)) + len(group)
        max(zip(shares, sides, strict=True), key=lambda pair: pair[0] * there - len(pair[1]))[
            1
        ].extend(group)
    if not all(sides):
        raise DataError(f"{len(drawn)} documents and texts are too few for three splits.", path)
    end = "\n\n" if form == "conll" else "\n"
    parts = [
        [*lines[:first], *(row[3] for row in sorted(side, key=lambda row: row[2]))]
        for side in sides
    ]
    return {name: end.join(part) + end for name, part in zip(SPLITS, parts, strict=True)}
