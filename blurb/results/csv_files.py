"""CSV files as people hand them in: columns and lines, and one kind of message for what cannot be read."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from blurb.errors import DataError

Lines = list[tuple[int, dict[Any, Any]]]
"""Numbers of lines in their file, which may have empty ones, and their cells as `csv.DictReader` gives them."""


def read(path: Path) -> tuple[tuple[str, ...], Lines]:
    """Columns and lines of a file; DataError (file, line) where that is not possible.

    A line that is too short has None for what is missing, one that is too long has the rest under None.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(f"the file cannot be read: {error.strerror}.", path) from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError(f"not UTF-8 at this line (byte 0x{raw[error.start]:02x}).", path, line) from None
    return parse(text, path)


def columns(path: Path) -> tuple[str, ...]:
    """The columns of a file; DataError where it cannot be read."""
    try:
        with path.open("rb") as file:
            first = file.readline(1_000_000)
    except OSError as error:
        raise DataError(f"the file cannot be read: {error.strerror}.", path) from None
    return parse(first.decode("utf-8-sig", "replace"), path)[0]


def parse(text: str, path: Path) -> tuple[tuple[str, ...], Lines]:
    """Likewise of a text; `path` is for messages."""
    reader = csv.DictReader(io.StringIO(text, newline="\n"))
    try:
        return tuple(reader.fieldnames or ()), [(reader.line_num, line) for line in reader]
    except csv.Error as error:  # a cell of more than 131,072 characters, a carriage return in the middle of a line
        raise DataError(f"not usable as CSV: {error}.", path, reader.reader.line_num) from None


FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet take a cell for a formula: a model could bring one in its name."""


def neutral(cell: str) -> str:
    """A cell that no spreadsheet runs: text that looks like a formula gets an apostrophe before it; numbers do not."""
    return f"'{cell}" if cell.startswith(FORMULA) and not _is_number(cell) else cell


def original(cell: str) -> str:
    """The cell that `neutral` made safe."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA) else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
