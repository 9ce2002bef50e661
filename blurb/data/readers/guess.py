"""What `blurb tasks new` reads from a corpus: its labels, and the column that has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from blurb.data.readers._files import json_lines, lines, trimmed
from blurb.data.readers.task_file import FORMATS, UNNAMED, labels_of
from blurb.messages.errors import DataError
from blurb.tasks import Task, types
from blurb.tasks._task import Layout


@dataclass(frozen=True)
class Guess:
    """What `blurb tasks new` writes for a file.

    :param labels: sorted; None if the file cannot be read so
    :param columns: names of columns that are not those of their fields
    """

    labels: list[str] | None
    columns: Mapping[str, str]


def guess(path: Path, kind: str, form: str) -> Guess:
    """The labels in a file, and whether they are in `label` or `labels`.

    Only saves typing in `blurb tasks new`, so failures are ignored.
    """
    columns = types.get(kind).columns
    labels: set[str] = set()
    renamed: dict[str, str] = {}
    try:
        renamed = _renamed(path, columns, form)
        for number, record in FORMATS[form](path, _undeclared(kind, {"kind": form, "columns": renamed})):
            if "tags" in columns:
                labels |= {
                    trimmed(str(tag)).partition("-")[2].strip() or UNNAMED
                    for tag in record["tags"]
                    if tag.strip() != "O"
                }
            for field in columns.keys() & {"label", "labels"}:
                labels |= set(labels_of(record[field], field, path, number))
    except (DataError, KeyError, TypeError, AttributeError):
        return Guess(None, renamed)
    return Guess(sorted(labels) or None, renamed)


def _renamed(path: Path, columns: Mapping[str, object], form: str) -> dict[str, str]:
    """`label` for the field `labels`, or the other way round, where the file has only that."""
    if form == "conll":
        return {}
    names = next(json_lines(path))[1].keys() if form == "jsonl" else next(lines(path))[1].split("\t")
    there = {name.strip() for name in names}
    pairs = (("label", "labels"), ("labels", "label"))
    return {field: other for field, other in pairs if field in columns and field not in there and other in there}


def _undeclared(kind: str, layout: Layout) -> Task:
    """A task of which only the files are known."""
    return Task(
        name="",
        title="",
        type=kind,
        files={},
        reader="",
        labels=(),
        metric="",
        seeds=1,
        max_length=1,
        unit="",
        licence="",
        homepage="",
        citation="",
        layout=layout,
    )
