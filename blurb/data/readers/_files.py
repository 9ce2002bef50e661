"""Reads lines, tables and JSON from text files; errors name file and line."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blurb.messages.errors import DataError, notify
from blurb.messages.text import plural
from blurb.system.files import read_bytes
from blurb.system.sniffing import refuse


def read_text(path: Path) -> str:
    """Reads UTF-8 text without byte order mark; DataError if the file is missing, empty or not UTF-8."""
    try:
        raw = read_bytes(path)
    except FileNotFoundError:
        raise DataError("the file is missing (docs/data.md describes BLURB's layout).", path) from None
    except OSError as error:
        raise DataError(f"the file cannot be read: {error.strerror}.", path) from error
    refuse(raw, path)
    text = decode(raw, path)
    if not text.strip():  # also if there is only a byte order mark
        raise DataError("the file is empty.", path)
    return text


def decode(raw: bytes, path: Path) -> str:
    """Decodes UTF-8 text without byte order mark; DataError (file, line) for invalid bytes."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError(f"not UTF-8 at this line (byte 0x{raw[error.start]:02x}).", path, line) from None


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yields line number (from 1) and line of a file."""
    return numbered(read_text(path))


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """Yields line number (from 1) and line of a text; only LF and CR LF end a line.

    `str.splitlines` would also split at separators that occur inside sentences.
    """
    rows = text.split("\n")
    if rows[-1] == "":
        rows.pop()
    for number, line in enumerate(rows, 1):
        yield number, line.removesuffix("\r")


def table(path: Path, columns: int, header: tuple[str, ...] = (), key: int = 0) -> Iterator[tuple[int, list[str]]]:
    """Rows of a TAB-separated file without quoting (a lone quote character occurs in the corpora).

    DataError for an unexpected header, a wrong number of columns, or a repeated id in column `key`.
    """
    first: dict[str, int] = {}
    for number, line in lines(path):
        cells = line.split("\t")
        if number == 1 and header:
            if tuple(cells) != header:
                raise DataError(f"expected the header {' | '.join(header)}, found {line[:80]!r}.", path, number)
            continue
        if len(cells) != columns:
            raise DataError(f"expected {columns} TAB-separated columns, found {len(cells)}.", path, number)
        if cells[key] in first:
            raise DataError(f"the id {cells[key][:40]!r} already occurs in line {first[cells[key]]}.", path, number)
        first[cells[key]] = number
        yield number, cells


BLANKS = re.compile(r"^[\s\u200b\u2060\ufeff]+|[\s\u200b\u2060\ufeff]+$")
"""What nobody sees at the ends of a label: blanks, also those without width."""
_cut: ContextVar[list[str] | None] = ContextVar("_cut", default=None)
"""Labels with blanks at their ends, in the file that is being read."""


def trimmed(label: str) -> str:
    """A label or tag without blanks at its ends, which nobody sees; `telling_cuts` counts them."""
    short = BLANKS.sub("", label)
    if short != label and (cut := _cut.get()) is not None:
        cut.append(label)
    return short


def label_text(value: Any) -> str:
    """A label as text, which may be a number: 1.0 is that of 1, as frames have it beside empty cells.

    :raises TypeError: for what is neither a text nor a number
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError
    return trimmed(value) if isinstance(value, str) else str(int(value) if float(value).is_integer() else value)


@contextlib.contextmanager
def telling_cuts(path: Path) -> Iterator[None]:
    """One notice of all labels of a file that `trimmed` shortens."""
    cut: list[str] = []
    token = _cut.set(cut)
    try:
        yield
    finally:
        _cut.reset(token)
    if cut:
        notify(f"{path}: blanks at the ends of {plural(len(cut), 'label')} were cut.")


def check_label(label: str, allowed: tuple[str, ...], path: Path, number: int) -> str:
    """Returns `label` without blanks at its ends if it is allowed; DataError otherwise."""
    label = trimmed(label)
    if label not in allowed:
        raise DataError(f"unknown label {label[:40]!r}; expected one of: {', '.join(allowed)}.", path, number)
    return label


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields line number and object of a file with one JSON object per line; DataError (file, line) otherwise."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a key occurs twice in one object")
        return found

    for number, line in lines(path):
        try:
            content = json.loads(line, object_pairs_hook=unique)
            json.dumps(content, ensure_ascii=False).encode()
        except json.JSONDecodeError as error:
            raise DataError(f"not valid JSON: {error.msg} (column {error.colno}).", path, number) from None
        except UnicodeEncodeError:
            raise DataError("half of a surrogate pair is not a character.", path, number) from None
        except (ValueError, RecursionError) as error:  # a repeated key, thousands of digits or of open brackets
            raise DataError(f"not usable as JSON: {error}.", path, number) from None
        if not isinstance(content, dict):
            raise DataError("expected one JSON object per line.", path, number)
        yield number, content


DOCUMENT = "-DOCSTART-"
"""Beginning of the line before a document in a CoNLL file."""
ID_LINE = "# id ="
"""Beginning of the line before a sentence that has an id."""


def has_half_pair(text: str) -> bool:
    """Whether a text has half of a surrogate pair, as JSON can spell it: no character, and no UTF-8."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def document_of(line: str) -> str | None:
    """The name of a document in its header; None if that has none.

    >>> document_of("-DOCSTART- 95369245"), document_of("-DOCSTART- (10037531)")
    ('95369245', '10037531')
    >>> document_of("-DOCSTART-\\tO"), document_of("-DOCSTART- -X- -X- O")  # BLURB's, and that of CoNLL-2003
    (None, None)
    """
    name = line.removeprefix(DOCUMENT).split("\t")[0].strip(" ()")
    return None if set(name.split()) <= {"-X-", "O"} else name


@dataclass
class Sentence:
    """A sentence of a CoNLL file.

    :param id: of an `# id = ...` line before it
    :param document: of the `-DOCSTART-` line before its document
    :param numbers: of its lines
    :param rows: the cells of each line
    """

    id: str | None
    document: str | None
    numbers: list[int] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)


def conll(path: Path) -> Iterator[Sentence]:
    """The sentences of a CoNLL file: a word a line, in columns that the whole file has, separated by TABs or blanks.

    :raises DataError: (file, line) for another number of columns than in the first line, since a word has a blank then
    """
    yield from sentences(list(lines(path)), path)


def sentences(table: Sequence[tuple[int, str]], path: Path) -> Iterator[Sentence]:
    """The sentences in numbered lines."""
    tabs, width = _columns(table)
    document: str | None = None
    sentence = Sentence(None, None)
    for number, line in table:
        if not line.strip() or line.startswith((DOCUMENT, ID_LINE)):
            if sentence.rows:
                yield sentence
                sentence = Sentence(None, document)
            if line.startswith(DOCUMENT):
                sentence.document = document = document_of(line)
            if line.startswith(ID_LINE):
                sentence.id = line.removeprefix(ID_LINE).strip()
            continue
        cells = _cells(line, tabs)
        if len(cells) != width:
            if COMMENT.match(line) and not sentence.rows and not (tabs and "\t" in line):
                continue
            expected = f"expected {plural(width, 'column')}, as in the first line with a word; found {len(cells)}"
            fix = "remove blanks within words, or separate the columns of all lines by TABs."
            raise DataError(expected, path, number, fix=fix)
        sentence.numbers.append(number)
        sentence.rows.append(cells)
    if sentence.rows:
        yield sentence


COMMENT = re.compile(r"#\s*[\w.:-]+\s*=|#(begin|end) document|# *new(doc|par)\b")
"""A comment before a sentence, as in CoNLL-U and CoNLL-2012. Also a word may begin with `#`."""


def _columns(table: Sequence[tuple[int, str]]) -> tuple[bool, int]:
    """Whether TABs separate the columns, and how many there are, by the first line with a word."""
    words = [line for _, line in table if line.strip() and not line.startswith((DOCUMENT, ID_LINE))]
    first = next((line for line in words if not COMMENT.match(line)), next(iter(words), ""))
    return "\t" in first, len(_cells(first, "\t" in first))


def _cells(line: str, tabs: bool) -> list[str]:
    # Not at any white space: a no-break space is inside of a word.
    return line.split("\t") if tabs else re.split(r"[ \t\v\f]+", line.strip(" \t\v\f"))


def json_object(text: str, path: Path) -> dict[str, Any]:
    """Parses the JSON object of a file; DataError if it is not one, or if a key occurs twice in an object."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        for key, value in pairs:
            if key in entries:
                place = line_of(text, text.rfind(json.dumps(key)))
                raise DataError(f"the id {key[:40]!r} occurs twice in the file.", path, place)
            entries[key] = value
        return entries

    try:
        content: Any = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise DataError(f"not valid JSON: {error.msg}.", path, error.lineno) from None
    except (ValueError, RecursionError) as error:  # thousands of digits or of open brackets
        raise DataError(f"not usable as JSON: {error}.", path) from None
    if not isinstance(content, dict):
        raise DataError("expected one JSON object.", path)
    return content


def line_of(text: str, place: int) -> int:
    """Line number of the character at an offset."""
    return text.count("\n", 0, max(0, place)) + 1
