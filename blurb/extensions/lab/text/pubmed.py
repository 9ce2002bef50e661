"""PubMed's XML, of the annual baseline or of a search: title and abstract of each article.

The form is that of NLM's DTD (https://dtd.nlm.nih.gov/ncbi/pubmed/): `PubmedArticle/MedlineCitation` has the `PMID` and
`Article/ArticleTitle` and `Article/Abstract/AbstractText`, which may be several, with formatting inside.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO
from xml.parsers import expat

from blurb.messages.errors import DataError

ARTICLE, CITATION = "PubmedArticle", "MedlineCitation"
TITLE, ABSTRACT = "ArticleTitle", "AbstractText"
CHUNK = 1 << 20
MOST_TEXT = 50_000_000
"""Bytes of an article, and of what stands between two tags: more is no article, and would fill the memory."""
MOST_DEPTH = 100
"""Tags that are open at once; those of PubMed have a dozen."""


def articles(stream: IO[bytes], path: Path) -> Iterator[tuple[str, str]]:
    """PMID and text (title, then the parts of the abstract, a line each) of the articles that have an abstract.

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
    last = False
    while not last:
        chunk = stream.read(CHUNK)
        last = not chunk
        try:
            parser.Parse(chunk, last)
            handler.check(len(chunk))
        except expat.ExpatError as error:
            raise DataError(f"is damaged or cut: {expat.errors.messages[error.code]}.", path, error.lineno) from None
        except _RefusedError as error:
            raise DataError(str(error), path, parser.CurrentLineNumber) from None
        except (LookupError, ValueError):  # of the declaration: Python's encodings are not those of expat
            what = "its first line declares an encoding that cannot be read in XML."
            raise DataError(what, path, 1, fix="save it as UTF-8.") from None
        yield from handler.finished
        handler.finished.clear()


class _RefusedError(Exception):
    """What no file of PubMed has."""


def _refuse(*_: object) -> None:
    raise _RefusedError("declares entities, which no file of PubMed does.")


class _Handler:
    """Collects the text of an article; what is corrected or cited in it has a PMID of its own, deeper down."""

    def __init__(self) -> None:
        self.finished: list[tuple[str, str]] = []
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
            if name == ABSTRACT and "OtherAbstract" not in self.path:  # of another language or for laymen
                self.parts.append(content)
            elif name == TITLE:
                self.title = content
            elif name == "PMID":
                self.pmid = content
        if name == ARTICLE and any(self.parts):
            self.finished.append((self.pmid, "\n".join(filter(None, (self.title, *self.parts)))))
