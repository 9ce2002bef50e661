"""What a file is that is no text: a sentence with the cure, for every command that reads texts."""

from __future__ import annotations

import re
from pathlib import Path

from blurb.messages.errors import DataError

READ = 4096
"""Bytes that say what a file is."""
SPANS = "make words with tags of it, or JSON lines (docs/extend.md)."
KINDS = (
    (rb"\x1f\x8b", "a gzip archive", "unpack it: gunzip FILE."),
    (rb"PK\x03\x04", "a zip archive or an Excel workbook", "unpack it, or save its sheet as CSV UTF-8."),
    (rb"PAR1", "a Parquet file", "give it the ending .parquet; only blurb score reads such files."),
    (rb"\xff\xfe|\xfe\xff|(?:\0[^\0]|[^\0]\0){4}", "text in UTF-16", "save it as UTF-8."),
    (rb"version https://git-lfs", "a Git LFS pointer and not the file that it stands for", "run git lfs pull."),
    (rb"\s*(?i:<!doctype html|<html[\s>])", "a web page (HTML), perhaps a login", "get the file itself."),
    (rb"(?s)\s*(?:<\?xml.*)?<collection[\s>]|\s*[\[{](?=.*\"passages\")(?=.*\"infons\")", "BioC", SPANS),
    (rb"\s*<\?xml", "XML", "save its examples as a table or as JSON lines."),
    (rb"\s*(?:T\d+\t\S+ \d+ \d+(?:;\d+ \d+)*\t|[RE]\d+\t\S+[ :]\S+:)", "BRAT's annotation by characters", SPANS),
    (rb"\s*\d+\|[ta]\|", "PubTator's annotation by characters", SPANS),
)
"""Beginnings of files, what they are, and what to do."""


def refuse(raw: bytes, path: Path) -> None:
    """Raises a DataError for what is no table.

    :param raw: the file, or its first bytes

    >>> refuse(b"\\x1f\\x8b", Path("a.csv"))
    Traceback (most recent call last):
    blurb.messages.errors.DataError: a.csv: this is a gzip archive; unpack it: gunzip FILE.
    """
    head = raw[:READ].removeprefix(b"\xef\xbb\xbf")
    for beginning, what, fix in KINDS:
        if re.match(beginning, head):
            raise DataError(f"this is {what}", path, fix=fix)


def decode(raw: bytes, path: Path, first: int = 1) -> str:
    """UTF-8 text without byte order mark; DataError (file, line) for invalid bytes.

    :param first: number of its first line
    """
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + first
        what = f"this line is not UTF-8 (byte 0x{raw[error.start]:02x})"
        raise DataError(what, path, line, fix="save the file as UTF-8.") from None


def refuse_separators(header: str, path: Path, marks: str, separator: str) -> None:
    """Raises a DataError for a line that other characters cut into cells, as Excel does it in most of Europe.

    :param marks: these characters
    :param separator: what should separate the cells
    """
    mark = next((mark for mark in marks if mark in header), None)
    if mark is not None and "\t" not in header and (mark == "," or "," not in header):
        raise DataError(
            f"the cells are separated by '{mark}'", path, 1, fix=f"save the file as UTF-8 with {separator}."
        )
