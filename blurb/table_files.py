"""Text files of people as lines, tables, JSON and CoNLL; each fault has its file and line.

A reader takes an `ErrorCollector`. The default one raises the first fault; another has them all afterwards, and what
is whole is read on. No reader goes on below what makes the rest unreadable: bytes that are not UTF-8, another header.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from blurb.messages import FIRST, DataError, ErrorCollector, count_noun
from blurb.system.files import open_ordinary, read_bytes
from blurb.system.text_files import HEAD_BYTES, decode_text, refuse_binary, refuse_separators


class FileLine(NamedTuple):
    """A line of a file: where something stands.

    :param number: from 1, as an editor counts
    """

    path: Path
    number: int

    def error(self, what: str, fix: str = "") -> DataError:
        """An error at this line."""
        return DataError(what, self.path, self.number, fix=fix)

    def below(self, lines: int) -> FileLine:
        """The line that stands some lines below."""
        return FileLine(self.path, self.number + lines)


Lines = Iterable[tuple[FileLine, str]]
Record = dict[str, Any]


def content_of(path: Path) -> bytes:
    """The bytes of a file that may be text; DataError if it is missing, cannot be read, or is of another kind."""
    try:
        raw = read_bytes(path)
    except OSError as error:
        raise _unreadable_file(path, error) from None
    refuse_binary(raw, path)
    return raw


def _unreadable_file(path: Path, error: OSError) -> DataError:
    return DataError(
        "the file is missing."
        if isinstance(error, FileNotFoundError)
        else f"the file cannot be read: {error.strerror}.",
        path,
    )


def text_of(path: Path) -> str:
    """UTF-8 text without byte order mark; DataError also if there is nothing but blanks."""
    text = decode_text(content_of(path), path)
    if not text.strip():  # also if there is only a byte order mark
        raise DataError("the file is empty.", path)
    return text


def lines_of(path: Path) -> Iterator[tuple[FileLine, str]]:
    """The lines of a file that is not empty."""
    return numbered_lines(text_of(path), path)


def numbered_lines(text: str, path: Path) -> Iterator[tuple[FileLine, str]]:
    """The lines of a text."""
    for number, line in enumerate(_split_lines(text), 1):
        yield FileLine(path, number), line


def _split_lines(text: str) -> list[str]:
    """The lines of a text; only LF and CR LF end a line.

    `str.splitlines` would also split at separators that occur inside sentences.
    """
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def cells_of(
    lines: Lines, width: int | None, errors: ErrorCollector = FIRST
) -> Iterator[tuple[FileLine, list[str]]]:
    """TAB-separated cells without quoting: a lone quote character occurs in the corpora.

    :param width: number of cells; None for any
    """
    for line, text in lines:
        cells = text.split("\t")
        if width in (None, len(cells)):
            yield line, cells
        else:
            errors.add(line.error(f"expected {width} TAB-separated columns, found {len(cells)}."))


def csv_rows(text: str, path: Path) -> Iterator[tuple[FileLine, list[str]]]:
    """The cells of CSV with quotes, each row with the line in which it ends; empty lines are left out."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    # Where the row that is read begins: a quote that is never closed is noticed at the end of the file.
    begin = 1
    try:
        for cells in reader:
            if cells:
                yield FileLine(path, reader.line_num), cells
            begin = reader.line_num + 1
    except csv.Error as error:
        raise DataError(
            f"the row that begins here is not valid CSV: {error}.", path, begin
        ) from None


def rows_of(
    path: Path, width: int, header: Sequence[str] = (), errors: ErrorCollector = FIRST
) -> Iterator[tuple[FileLine, list[str]]]:
    """The TAB-separated cells of a file below its header, if it has one."""
    lines = lines_of(path)
    if header:
        line, text = next(lines)
        if text.split("\t") != list(header):
            errors.add(
                line.error(f"expected the header {' | '.join(header)}, found {text[:80]!r}.")
            )
            return iter(())
    return cells_of(lines, width, errors)


class Table(NamedTuple):
    """A CSV file.

    :param columns: names in its header
    :param rows: cells by column, with the line in which each row ends; empty lines are left out
    """

    columns: tuple[str, ...]
    rows: list[tuple[FileLine, dict[str, str]]]


def table_of(
    path: Path,
    errors: ErrorCollector = FIRST,
    needed: Sequence[str] = (),
    noun: str = "",
    short: bool = False,
    text: str | None = None,
) -> Table:
    """The rows of a CSV file that have a cell for each column.

    :param needed: columns that it must have
    :param noun: of such a table, for the message
    :param short: whether a row may lack its last cells, which are empty then
    :param text: of the file, if it was read already
    """
    text = decode_text(content_of(path), path) if text is None else text
    reader = csv.DictReader(io.StringIO(text, newline="\n"), restval="" if short else None)
    columns, rows = tuple[str, ...](), list[tuple[FileLine, dict[str, str]]]()
    try:
        columns = _column_names(reader, path)
        if missing := [column for column in needed if column not in columns]:
            errors.add(missing_columns(missing, path, noun))
            return Table(columns, rows)
        for cells in reader:
            line = FileLine(path, reader.line_num)
            if None in cells or None in cells.values():
                errors.add(line.error(f"expected {len(columns)} cells."))
            else:
                rows.append((line, cells))
    except csv.Error as error:
        # A cell of more than 131,072 characters, or a carriage return within a line.
        errors.add(DataError(f"invalid CSV: {error}.", path, reader.reader.line_num))
    return Table(columns, rows)


def missing_columns(names: Sequence[str], path: Path, noun: str = "") -> DataError:
    """The error of a table without columns that it must have.

    :param noun: of such a table, if it is to be said
    """
    what = f"not a {noun}, as columns are missing" if noun else "missing columns"
    return DataError(f"{what}: {', '.join(names)}.", path, 1)


def head_of(path: Path) -> tuple[tuple[str, ...], dict[Any, Any] | None]:
    """The columns of a CSV file and its first row, if it has one; no more of it is read."""
    try:
        with open(path, "rb", opener=open_ordinary) as file:
            refuse_binary(file.read(HEAD_BYTES), path)
            file.seek(0)
            reader = csv.DictReader(io.TextIOWrapper(file, "utf-8-sig", "replace", newline="\n"))
            return _column_names(reader, path), next(reader, None)
    except OSError as error:
        raise _unreadable_file(path, error) from None
    except csv.Error as error:
        raise DataError(f"invalid CSV: {error}.", path, reader.reader.line_num) from None  # type: ignore[possibly-undefined]


def _column_names(reader: csv.DictReader[str], path: Path) -> tuple[str, ...]:
    names = tuple(reader.fieldnames or ())
    if len(names) == 1:
        refuse_separators(names[0], path, ";\t", "commas")
    if double := [name for name in names if name and names.count(name) > 1]:
        raise DataError(
            f"two columns have the name {double[0][:40]!r}", path, 1, fix="remove one of them."
        )
    return names


def json_lines(path: Path, errors: ErrorCollector = FIRST) -> Iterator[tuple[FileLine, Record]]:
    """The object of each line of a file of JSON lines."""
    for line, text in lines_of(path):
        with errors:
            yield line, json_object(text, line)


def json_object(text: str, line: FileLine, halves: bool = False) -> Record:
    """The JSON object that a text is; DataError (file, line) if it is none, or if a key occurs twice in an object.

    :param line: the first of the text
    :param halves: whether half of a surrogate pair may stand in it: a model can be cut off between them
    """

    def unique(pairs: list[tuple[str, Any]]) -> Record:
        entries: Record = {}
        for key, value in pairs:
            if key in entries:
                place = line.below(text.count("\n", 0, max(0, text.rfind(json.dumps(key)))))
                raise place.error(f"the key {key[:40]!r} occurs twice in one object.")
            entries[key] = value
        return entries

    try:
        content = json.loads(text, object_pairs_hook=unique)
        if r"\u" in text and not halves:
            json.dumps(content, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise line.below(error.lineno - 1).error(
            f"not valid JSON: {error.msg} (column {error.colno})."
        ) from None
    except UnicodeEncodeError as error:
        half = re.search(rf"\\u{ord(error.object[error.start]):04x}", text, re.IGNORECASE)
        above = text.count("\n", 0, half.start() if half else 0)
        raise line.below(above).error("half of a surrogate pair is not a character.") from None
    except (ValueError, RecursionError) as error:  # thousands of digits or of open brackets
        raise line.error(f"not usable as JSON: {error}.") from None
    if not isinstance(content, dict):
        fix = "Write one object a line, without a list around them (.jsonl)."
        raise line.error("expected a JSON object.", fix if isinstance(content, list) else "")
    return content


DOCUMENT = "-DOCSTART-"
"""Beginning of the line before a document in a CoNLL file."""
ID_LINE = "# id ="
"""Beginning of the line before a sentence that has an id."""
COMMENT = re.compile(r"#\s*[\w.:-]+\s*=|#(begin|end) document|# *new(doc|par)\b")
"""A comment before a sentence, as in CoNLL-U and CoNLL-2012. Also a word may begin with `#`."""


def document_of(text: str) -> str | None:
    """The name of a document in its header; None if that has none.

    >>> document_of("-DOCSTART- 95369245"), document_of("-DOCSTART- (10037531)")
    ('95369245', '10037531')
    >>> document_of("-DOCSTART-\\tO"), document_of("-DOCSTART- -X- -X- O")  # BLURB's, and that of CoNLL-2003
    (None, None)
    """
    name = text.removeprefix(DOCUMENT).split("\t")[0].strip(" ()")
    return None if set(name.split()) <= {"-X-", "O"} else name


@dataclass
class Sentence:
    """A sentence of a CoNLL file.

    :param id: of an `# id = ...` line before it
    :param document: of the `-DOCSTART-` line before its document
    :param rows: the cells of each of its lines
    :param whole: whether each line could be cut into the columns
    """

    id: str | None
    document: str | None
    rows: list[list[str]] = field(default_factory=list)
    whole: bool = True


def read_conll(
    path: Path, errors: ErrorCollector = FIRST, kit: bool = False
) -> Iterator[tuple[FileLine, Sentence]]:
    """The sentences of a CoNLL file; parameters as of `read_sentences`."""
    return read_sentences(text_of(path), path, errors, kit)


def read_sentences(
    text: str, path: Path, errors: ErrorCollector = FIRST, kit: bool = False
) -> Iterator[tuple[FileLine, Sentence]]:
    """The first line of each sentence, and the sentence; its words follow line by line.

    The columns are those of the whole file, separated by TABs or blanks. Another number of columns than in the first
    line with a word is a fault, since a word has a blank then.

    :param kit: the layout of BLURB's kit, where a word and its tag are separated by a TAB, only an empty line or a
        header ends a sentence, and there are no comments
    """
    lines = _split_lines(text)
    tabs, width = (True, 2) if kit else _tabs_and_count(lines)
    expected = (
        "a token, a TAB and a tag"
        if kit
        else f"{count_noun(width, 'column')}, as in the first line with a word"
    )
    marks = (DOCUMENT,) if kit else (DOCUMENT, ID_LINE)
    sentence = Sentence(None, None)
    for number, line in enumerate([*lines, ""], 1):
        if not (line if kit else line.strip()) or line.startswith(marks):
            if sentence.rows and sentence.whole:
                yield FileLine(path, number - len(sentence.rows)), sentence
            if sentence.rows or not sentence.whole:
                sentence = Sentence(None, sentence.document)
            if line.startswith(DOCUMENT):
                sentence.document = document_of(line)
            elif line.startswith(marks):
                sentence.id = line.removeprefix(ID_LINE).strip()
            continue
        cells = line.split("\t") if tabs else _cells_of_line(line, tabs)
        if len(cells) == width:
            sentence.rows.append(cells)
        elif kit or not COMMENT.match(line) or sentence.rows or (tabs and "\t" in line):
            errors.add(
                FileLine(path, number).error(
                    f"expected {expected}; found {count_noun(len(cells), 'column')}",
                    "remove blanks within words, or separate the columns of all lines by TABs.",
                )
            )
            sentence.whole = False


def _tabs_and_count(lines: Sequence[str]) -> tuple[bool, int]:
    """Whether TABs separate the columns, and how many there are, by the first line with a word."""
    words = [line for line in lines if line.strip() and not line.startswith((DOCUMENT, ID_LINE))]
    first = next((line for line in words if not COMMENT.match(line)), next(iter(words), ""))
    return "\t" in first, len(_cells_of_line(first, "\t" in first))


def _cells_of_line(line: str, tabs: bool) -> list[str]:
    # Not at any white space: a no-break space is inside of a word.
    return line.split("\t") if tabs else re.split(r"[ \t\v\f]+", line.strip(" \t\v\f"))
