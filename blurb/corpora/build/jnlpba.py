"""JNLPBA from Genia4ERtask2.iob2 (train and dev) and Genia4EReval2.iob2 (test)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from blurb.corpora.build._files import untyped
from blurb.corpora.releases import Release, SourceFile
from blurb.messages.errors import DataError
from blurb.tasks import Split, Task

CUT = 465_497
"""Lines of Genia4ERtask2 that BLURB's kit uses for train; the others are dev."""
HEADER = "###MEDLINE:"
ARCHIVES = ("Genia4ER*", "jnlpba*")


def build(release: Release, task: Task) -> dict[Split, str]:
    """Headers `###MEDLINE:<id>` become `-DOCSTART- <id>`; the five types are dropped."""
    training, test = (release.file(f"Genia4ER{name}2.iob2", archives=ARCHIVES) for name in ("task", "eval"))
    lines = _lines(training)
    train, dev = "".join(islice(lines, CUT)), "".join(lines)
    if not dev:
        raise DataError(f"the file ends before line {CUT:,}, where dev starts.", training.path)
    return {"train": train, "dev": dev, "test": "".join(_lines(test))}


def _lines(file: SourceFile) -> Iterator[str]:
    for line, text in file.lines():
        if text.startswith(HEADER):
            yield f"-DOCSTART- {text.removeprefix(HEADER)}\n"
        else:
            yield from untyped([(line, text)])
