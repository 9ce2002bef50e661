"""Reads CSV files from users, with uniform error messages."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from blurb.messages.errors import DataError
from blurb.messages.text import escaped
from blurb.system.files import ordinary, read_bytes
from blurb.system.sniffing import READ, refuse, refuse_separators

Lines = list[tuple[int, dict[Any, Any]]]
"""Numbers of lines in their file, which may have empty ones, and their cells as `csv.DictReader` gives them."""


def read(path: Path) -> tuple[tuple[str, ...], Lines]:
    """Columns and lines of a file, as from `csv.DictReader`.

    A line that is too short has None for missing cells; one that is too long has the surplus under the key None.

    :raises DataError: (file, line) if the file cannot be read
    """
    try:
        raw = read_bytes(path)
    except OSError as error:
        raise DataError(f"cannot read the file: {error.strerror}.", path) from None
    refuse(raw, path)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError(f"this line is not valid UTF-8 (byte 0x{raw[error.start]:02x}).", path, line) from None
    return parse(text, path)


def first(path: Path) -> tuple[tuple[str, ...], dict[Any, Any] | None]:
    """The columns of a file and its first line, if it has one; DataError as of `read`, but only of these."""
    try:
        with open(path, "rb", opener=ordinary) as file:
            refuse(file.read(READ), path)
            file.seek(0)
            reader = csv.DictReader(io.TextIOWrapper(file, "utf-8-sig", newline="\n"))
            return _names(reader, path), next(reader, None)
    except OSError as error:
        raise DataError(f"cannot read the file: {error.strerror}.", path) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"invalid CSV: {error}.", path, 1) from None


def columns(path: Path) -> tuple[str, ...]:
    """The columns of a file; DataError if it cannot be read."""
    try:
        with open(path, "rb", opener=ordinary) as file:
            refuse(file.read(READ), path)
            file.seek(0)
            first = file.readline(1_000_000)
    except OSError as error:
        raise DataError(f"cannot read the file: {error.strerror}.", path) from None
    return parse(first.decode("utf-8-sig", "replace"), path)[0]


def parse(text: str, path: Path) -> tuple[tuple[str, ...], Lines]:
    """The same for a text; `path` is for messages."""
    reader = csv.DictReader(io.StringIO(text, newline="\n"))
    try:
        return _names(reader, path), [(reader.line_num, line) for line in reader]
    except csv.Error as error:  # a cell of more than 131,072 characters, a carriage return in the middle of a line
        raise DataError(f"invalid CSV: {error}.", path, reader.reader.line_num) from None


def _names(reader: csv.DictReader[str], path: Path) -> tuple[str, ...]:
    names = tuple(reader.fieldnames or ())
    if len(names) == 1:
        refuse_separators(names[0], path, ";", "commas")
    return names


FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters of formulas in spreadsheets; a model name could contain a formula."""


def joined(cells: Sequence[str]) -> str:
    """Cells as a part of a line, `neutral` and in quotes where they must be; at least two.

    >>> joined(["a", "c,d", ""])
    'a,"c,d",'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow([neutral(cell) for cell in cells])
    return text.getvalue()


def neutral(cell: str) -> str:
    """A cell that no spreadsheet executes: text that looks like a formula gets an apostrophe, numbers do not.

    One more, if it has some already, so that `original` gives back what was there.
    """
    return f"'{cell}" if cell.lstrip("'").startswith(FORMULA) and not _is_number(cell) else cell


def original(cell: str) -> str:
    """Undoes `neutral`; characters that would command a terminal become escapes for good."""
    cell = cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(FORMULA) else cell
    return escaped(cell).replace("\n", "\\n")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
