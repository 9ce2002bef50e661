"""Text files from users: refuses binary files, decodes text, and reads TOML (tasks, protocols, rules, runs)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from blurb.messages import DataError, SettingsError
from blurb.system.files import open_ordinary

MOST_BYTES = 4_000_000
"""Maximum bytes of a file: enough for a hundred thousand labels, and fast to read."""


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a file; SettingsError, with file and line, if it is invalid."""
    try:
        with open(path, "rb", opener=open_ordinary) as file:
            raw = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise SettingsError("no such file.", where=path) from None
    except OSError as error:
        raise SettingsError(f"cannot read the file: {error.strerror}.", where=path) from None
    if len(raw) > MOST_BYTES:
        raise SettingsError(
            f"too large for a TOML file of settings (maximum {MOST_BYTES:,} bytes).", where=path
        )
    try:
        text = decode_text(raw, path)
    except DataError as error:
        raise SettingsError(error.what, where=error.where, fix=error.fix) from None
    return parse_toml(text, str(path))


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """The content of a text; SettingsError, beginning with `where`, if it is not valid TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"invalid TOML: {error}.", where=where) from None
    except RecursionError:
        raise SettingsError("invalid TOML: brackets are nested too deeply.", where=where) from None
    except ValueError as error:  # a number of thousands of digits
        raise SettingsError(f"invalid TOML: {str(error).partition(';')[0]}.", where=where) from None


HEAD_BYTES = 4096
"""Bytes that say what a file is."""
SPANS = "make words with tags of it, or JSON lines (docs/extend.md)."
KINDS = (
    (rb"\x1f\x8b", "a gzip archive", "unpack it: gunzip FILE."),
    (
        rb"PK\x03\x04",
        "a zip archive or an Excel workbook",
        "unpack it, or save its sheet as CSV UTF-8.",
    ),
    (rb"PAR1", "a Parquet file", "give it the ending .parquet; only blurb score reads such files."),
    (rb"\xff\xfe|\xfe\xff|(?:\0[^\0]|[^\0]\0){4}", "text in UTF-16", "save it as UTF-8."),
    (
        rb"version https://git-lfs",
        "a Git LFS pointer and not the file that it stands for",
        "run git lfs pull.",
    ),
    (
        rb"\s*(?i:<!doctype html|<html[\s>])",
        "a web page (HTML), perhaps a login",
        "get the file itself.",
    ),
    (
        rb"(?s)\s*(?:<\?xml.*)?<collection[\s>]|\s*[\[{](?=.*\"passages\")(?=.*\"infons\")",
        "BioC",
        SPANS,
    ),
    (rb"\s*<\?xml", "XML", "save its examples as a table or as JSON lines."),
    (
        rb"\s*(?:T\d+\t\S+ \d+ \d+(?:;\d+ \d+)*\t|[RE]\d+\t\S+[ :]\S+:)",
        "BRAT's annotation by characters",
        SPANS,
    ),
    (rb"\s*\d+\|[ta]\|", "PubTator's annotation by characters", SPANS),
)
"""Beginnings of files, what they are, and what to do."""


def refuse_binary(raw: bytes, path: Path) -> None:
    """Raises a DataError for what is no table.

    :param raw: the file, or its first bytes

    >>> refuse_binary(b"\\x1f\\x8b", Path("a.csv"))
    Traceback (most recent call last):
    blurb.messages.errors.DataError: a.csv: this is a gzip archive; unpack it: gunzip FILE.
    """
    head = raw[:HEAD_BYTES].removeprefix(b"\xef\xbb\xbf")
    for beginning, what, fix in KINDS:
        if re.match(beginning, head):
            raise DataError(f"this is {what}", path, fix=fix)


def decode_text(raw: bytes, path: Path, first: int = 1) -> str:
    """UTF-8 text without byte order mark; DataError (file, line) for invalid bytes.

    :param first: number of its first line
    """
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + first
        raise DataError(
            f"this line is not UTF-8 (byte 0x{raw[error.start]:02x})",
            path,
            line,
            fix="save the file as UTF-8.",
        ) from None


def refuse_separators(header: str, path: Path, marks: Iterable[str], separator: str) -> None:
    """Raises a DataError for a line with other separators between its cells, as Excel writes in most of Europe.

    :param marks: these characters
    :param separator: what should separate the cells
    """
    mark = next((mark for mark in marks if mark in header), None)
    if mark is not None and {"\t", ","}.isdisjoint({*header} - {mark}):
        raise DataError(
            f"the cells are separated by {mark!r}",
            path,
            1,
            fix=f"save the file as UTF-8 with {separator}.",
        )
