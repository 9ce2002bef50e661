"""Documents of files that people have: plain text, JSON lines, PubMed's XML; read as a stream, a document at a time.

The form of PubMed's XML, of the annual baseline or of a search, is that of NLM's DTD
(https://dtd.nlm.nih.gov/ncbi/pubmed/): `PubmedArticle/MedlineCitation` has the `PMID` and `Article/ArticleTitle` and
`Article/Abstract/AbstractText`, which may be several, with formatting inside.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from xml.parsers import expat

from blurb.messages import DataError, SettingsError, system_message
from blurb.system.files import open_ordinary
from blurb.system.text_files import decode_text
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
        files = sorted(file for file in path.rglob("*") if file.is_file() and _reader(file))
        if not files:
            raise DataError(f"has no file to read ({', '.join(READERS)}, also with .gz).", path)
        for file in files:
            yield from read(file)
        return
    if (reader := _reader(path)) is None:
        raise SettingsError(
            "is of no kind that can be read", where=path, fix=f"use {', '.join(READERS)} (or .gz)."
        )
    try:
        with open(path, "rb", opener=open_ordinary) as raw:
            yield from reader(
                io.BufferedReader(gzip.GzipFile(fileobj=raw)) if path.suffix == ".gz" else raw, path
            )
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"the compressed file is damaged or cut ({error}).", path) from None
    except OSError as error:
        raise DataError(system_message(error)) from None


def _text(stream: IO[bytes], path: Path) -> Iterator[TextDocument]:
    """Documents separated by blank lines, as in the corpora of BERT."""
    lines: list[str] = []
    size = 0
    for line, text in _lines(stream, path):
        if text.strip():
            lines.append(text.strip())
            size += len(text)
            if size > MOST_LINE:
                raise line.error(
                    f"a document ends here with more than {MOST_LINE:,} characters.",
                    "separate documents by blank lines.",
                )
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
        yield TextDocument(
            "\n".join(part.strip() for part in parts if part.strip()), str(row.get("pmid") or "")
        )


def _lines(stream: IO[bytes], path: Path) -> Iterator[tuple[FileLine, str]]:
    for number, raw in enumerate(iter(lambda: stream.readline(MOST_LINE), b""), 1):
        line = FileLine(path, number)
        if len(raw) == MOST_LINE:
            raise line.error(f"has {MOST_LINE:,} bytes without a line end.")
        yield line, decode_text(raw, path, number)


ARTICLE, CITATION = "PubmedArticle", "MedlineCitation"
TITLE, ABSTRACT = "ArticleTitle", "AbstractText"
CHUNK = 1 << 20
MOST_TEXT = 50_000_000
"""Bytes of an article, and of what stands between two tags: more is no article, and would fill the memory."""
MOST_DEPTH = 100
"""Tags that are open at once; those of PubMed have a dozen."""


def articles(stream: IO[bytes], path: Path) -> Iterator[TextDocument]:
    """The articles of PubMed's XML that have an abstract: title, then the parts of the abstract, a line each.

    :raises DataError: (file, line) for XML that is cut or damaged, or that declares entities, which could grow without
        end or name files
    """
    parser = expat.ParserCreate()
    handler = _Handler()
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.text
    parser.EntityDeclHandler = _refuse
    parser.buffer_text = True
    chunk = None
    while chunk != b"":
        chunk = stream.read(CHUNK)
        try:
            parser.Parse(chunk, not chunk)
            handler.check(len(chunk))
        except expat.ExpatError as error:
            raise DataError(
                f"is damaged or cut: {expat.errors.messages[error.code]}.", path, error.lineno
            ) from None
        except _RefusedError as error:
            raise DataError(str(error), path, parser.CurrentLineNumber) from None
        except (LookupError, ValueError):
            # The declared encoding: expat lacks some of Python's.
            raise DataError(
                "its first line declares an encoding that cannot be read in XML.",
                path,
                1,
                fix="save it as UTF-8.",
            ) from None
        yield from handler.finished
        handler.finished.clear()


class _RefusedError(Exception):
    """Features that no file of PubMed has."""


def _refuse(*_: object) -> None:
    raise _RefusedError("declares entities, which no file of PubMed does.")


class _Handler:
    """Collects the text of an article; what is corrected or cited in it has a PMID of its own, deeper down."""

    def __init__(self) -> None:
        self.finished: list[TextDocument] = []
        self.path: list[str] = []
        self.pmid, self.title = "", ""
        self.parts: list[str] = []
        self.buffer: list[str] | None = None
        self.size, self.silent = 0, 0

    def check(self, size: int) -> None:
        """Refuses a tag without end: a chunk that had no event in it belongs to one."""
        self.silent += size
        if self.silent > MOST_TEXT:
            raise _RefusedError(f"has a tag of more than {MOST_TEXT:,} bytes.")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.path.append(name)
        self.silent = 0
        if len(self.path) > MOST_DEPTH:
            raise _RefusedError(f"has more than {MOST_DEPTH} tags that are open at once.")
        if name == ARTICLE:
            self.pmid, self.title, self.parts, self.size = "", "", [], 0
        if name in (TITLE, ABSTRACT) or (name == "PMID" and self.path[-2:-1] == [CITATION]):
            self.buffer = []

    def text(self, content: str) -> None:
        self.silent = 0
        if self.buffer is not None:
            self.buffer.append(content)
            self.size += len(content)
            if self.size > MOST_TEXT:
                raise _RefusedError(f"has an article of more than {MOST_TEXT:,} characters.")

    def end(self, name: str) -> None:
        self.path.pop()
        self.silent = 0
        if self.buffer is not None and name in (TITLE, ABSTRACT, "PMID"):
            content, self.buffer = " ".join("".join(self.buffer).split()), None
            # Abstracts in another language or for laymen are left out.
            if name == ABSTRACT and "OtherAbstract" not in self.path:
                self.parts.append(content)
            elif name == TITLE:
                self.title = content
            elif name == "PMID":
                self.pmid = content
        if name == ARTICLE and any(self.parts):
            self.finished.append(
                TextDocument("\n".join(filter(None, (self.title, *self.parts))), self.pmid)
            )


READERS = {".txt": _text, ".jsonl": _json_lines, ".xml": articles}
"""Ending -> reader."""


def _reader(path: Path) -> Callable[[IO[bytes], Path], Iterator[TextDocument]] | None:
    return READERS.get(Path(path.stem).suffix if path.suffix == ".gz" else path.suffix)
