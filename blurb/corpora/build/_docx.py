"""Reads the table of a Word document: a .docx is XML in a zip archive, which needs no library."""

from __future__ import annotations

import re
from typing import Any

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from blurb.corpora.releases import SourceFile
from blurb.corpora.releases.archives import content_of
from blurb.messages.errors import DataError

BODY = "word/document.xml"
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
BETWEEN = {f"{W}br": "\n", f"{W}cr": "\n", f"{W}tab": "\t"}


def table(file: SourceFile, columns: int, header: str) -> list[list[str]]:
    """The cells of the rows below the header, with whitespace normalized.

    :param header: pattern of the first row, with cells joined by ` | `
    :raises DataError: if it is not a Word document, not safe XML, or not the expected table
    """
    tables = list(_body(file).iter(f"{W}tbl"))
    if len(tables) != 1:
        raise DataError(f"expected one table, found {len(tables)}.", file.path)
    rows = [[_text(cell) for cell in row.findall(f"{W}tc")] for row in tables[0].iter(f"{W}tr")]
    first = " | ".join(rows[0] if rows else [])
    if not re.fullmatch(header, first):
        raise DataError(f"not the expected table: its first row is {first[:80]!r}.", file.path)
    for number, row in enumerate(rows[1:], 1):
        if len(row) != columns:
            raise DataError(f"expected {columns} cells in row {number} of the table, found {len(row)}.", file.path)
    return rows[1:]


def _body(file: SourceFile) -> Any:
    path = file.path / BODY
    try:
        return fromstring(content_of(file.content, BODY, file.path))
    except (ParseError, DefusedXmlException, LookupError, ValueError) as error:  # LookupError: an unknown encoding
        raise DataError(f"not well-formed or not safe XML: {error}.", path) from None


def _text(cell: Any) -> str:
    paragraphs = (
        "".join((part.text or "") if part.tag == f"{W}t" else BETWEEN.get(part.tag, "") for part in paragraph.iter())
        for paragraph in cell.iter(f"{W}p")
    )
    return re.sub(r"[\n\t]+", " ", "\n".join(paragraphs)).strip()
