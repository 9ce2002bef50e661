"""Documents of files that people have: plain text, JSON lines, PubMed's XML; read as a stream, a document at a time."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from blurb.extensions.lab.text import pubmed
from blurb.messages.errors import DataError, SettingsError
from blurb.system.files import of_system, ordinary
from blurb.system.text_files import decode
from blurb.table_files import FileLine, json_object

MOST_LINE = 50_000_000
"""Bytes of a line: a file without line ends is no text, and would fill the memory."""


@dataclass(frozen=True)
class TextDocument:
    """A text that stands by itself: a sequence of sentences, or an abstract with its title.

    :param pmid: its PubMed id, if it is known
    """

    text: str
    pmid: str = ""


def read(path: Path) -> Iterator[TextDocument]:
    """The documents of a file, or of all files of a folder in the order of their names.

    :raises DataError: (file, line) for a file that is not what its ending says, or is cut
    """
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file() and _reader(file) is not None)
        if not files:
            raise DataError(f"has no file to read ({', '.join(READERS)}, also with .gz).", path)
        for file in files:
            yield from read(file)
        return
    reader = _reader(path)
    if reader is None:
        raise SettingsError("is of no kind that can be read", where=path, fix=f"use {', '.join(READERS)} (or .gz).")
    try:
        with open(path, "rb", opener=ordinary) as raw:
            yield from reader(io.BufferedReader(gzip.GzipFile(fileobj=raw)) if path.suffix == ".gz" else raw, path)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"the compressed file is damaged or cut ({error}).", path) from None
    except OSError as error:
        raise DataError(of_system(error)) from None


def _text(stream: IO[bytes], path: Path) -> Iterator[TextDocument]:
    """Documents separated by blank lines, as in the corpora of BERT."""
    lines: list[str] = []
    size = 0
    for line, text in _lines(stream, path):
        if text.strip():
            lines.append(text.strip())
            size += len(text)
            if size > MOST_LINE:
                what = f"a document ends here with more than {MOST_LINE:,} characters."
                raise line.error(what, "separate documents by blank lines.")
        elif lines:
            yield TextDocument("\n".join(lines))
            lines, size = [], 0
    if lines:
        yield TextDocument("\n".join(lines))


def _json_lines(stream: IO[bytes], path: Path) -> Iterator[TextDocument]:
    """Objects with `text`, or with `title` and `abstract`; `pmid` beside, if it is known."""
    for line, text in _lines(stream, path):
        if not text.strip():
            continue
        row = json_object(text, line)
        parts = [row.get(name) or "" for name in ("title", "abstract", "text")]
        if not all(isinstance(part, str) for part in parts) or not any(parts):
            raise line.error("expected an object with `text`, or with `title` and `abstract`.")
        yield TextDocument("\n".join(part.strip() for part in parts if part.strip()), str(row.get("pmid") or ""))


def _pubmed(stream: IO[bytes], path: Path) -> Iterator[TextDocument]:
    for pmid, text in pubmed.articles(stream, path):
        yield TextDocument(text, pmid)


def _lines(stream: IO[bytes], path: Path) -> Iterator[tuple[FileLine, str]]:
    for number, raw in enumerate(iter(lambda: stream.readline(MOST_LINE), b""), 1):
        line = FileLine(path, number)
        if len(raw) == MOST_LINE:
            raise line.error(f"has {MOST_LINE:,} bytes without a line end.")
        yield line, decode(raw, path, number)


READERS: dict[str, Callable[[IO[bytes], Path], Iterator[TextDocument]]] = {
    ".txt": _text,
    ".jsonl": _json_lines,
    ".xml": _pubmed,
}
"""Ending -> reader."""


def _reader(path: Path) -> Callable[[IO[bytes], Path], Iterator[TextDocument]] | None:
    return READERS.get(Path(path.stem).suffix if path.suffix == ".gz" else path.suffix)
