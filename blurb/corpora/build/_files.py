"""Replaces a folder atomically: it is written elsewhere and then renamed.

Which document or pair belongs to which split: ids fixed by BLURB's kit, shipped as `lists/<name>.tsv`.

The lists contain only ids, no text. EBM PICO and HoC: the kit's index lists. BIOSSES: the order of the released files.
BioASQ: the 75 questions of dev, as BigBIO publishes them.

Converts word-per-line files of originals from `token TAB tag` to BLURB's `token TAB B|I|O`.

Reads the table of a Word document: a .docx is XML in a zip archive, which needs no library.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from blurb.corpora.releases import SourceFile
from blurb.corpora.releases.archives import content_of
from blurb.lines import Lines
from blurb.messages.errors import DataError
from blurb.system.files import beside
from blurb.tasks import Split


@contextmanager
def written_aside(out: Path, name: str) -> Iterator[Path]:
    """A temporary folder to write `name` into, which replaces `out/name` at the end.

    It starts as a copy of `out/name`, so that other files are kept. After an error `out/name` is unchanged and nothing
    else is left behind.

    :raises DataError: instead of an OSError (disk full, no permission)
    """
    target = (out / name).resolve()  # follow a link, so that renames stay on one file system
    if target.exists() and not target.is_dir():
        raise DataError("cannot be written: there is a file of that name.", out / name)
    aside = beside(target)
    try:
        try:
            (aside / name).parent.mkdir(parents=True)
            if target.exists():
                shutil.copytree(target, aside / name, symlinks=True)
            yield aside
            _exchange(aside / name, target, aside / "old")
        finally:
            _remove(aside)
    except OSError as error:
        problem = error.strerror or error
        raise DataError(f"cannot be written: {problem}. The existing files are unchanged.", out / name) from error


def write(path: Path, text: str, within: Path) -> None:
    """Writes a new file; replaces an existing one even if it is a link or read-only.

    Writes bytes, as text mode would write CR LF on Windows.

    :raises DataError: if a link in `path` leads out of the folder `within`, where an error could not be undone
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.parent.resolve().is_relative_to(within.resolve()):
        raise DataError(f"{path.parent.name} is a link to another folder", path, fix="remove it first.")
    path.unlink(missing_ok=True)
    path.write_bytes(text.encode())


def _exchange(new: Path, target: Path, old: Path) -> None:
    if not target.exists():
        new.rename(target)
        return
    try:
        target.rename(old)
        new.rename(target)
    except BaseException:  # Ctrl-C too: `old` is the only copy, and is removed next
        if old.exists() and not target.exists():
            old.rename(target)
        raise


def _remove(folder: Path) -> None:
    for top, _, _ in os.walk(folder):
        os.chmod(top, 0o700)  # the copy of a read-only folder is read-only
    shutil.rmtree(folder, ignore_errors=True)


@cache
def listed(name: str) -> dict[Split, list[str]]:
    """Ids by split, in BLURB's order."""
    ids: dict[Split, list[str]] = {}
    text = (files("blurb.corpora.build") / "lists" / f"{name}.tsv").read_text(encoding="utf-8")
    for line in text.splitlines():
        name, number = line.split("\t")
        split: Split = "train" if name == "train" else "dev" if name == "dev" else "test"
        ids.setdefault(split, []).append(number)
    return ids


def untyped(lines: Lines) -> Iterator[str]:
    """Reduces every tag to its first letter, as BLURB's kit does (`label[0]`); keeps blank lines."""
    for line, text in lines:
        if not text:
            yield "\n"
            continue
        cells = text.split("\t")
        if len(cells) != 2 or cells[1][:1] not in ("B", "I", "O"):
            raise line.error("expected a token, a TAB and a tag that starts with B, I or O.")
        yield f"{cells[0]}\t{cells[1][0]}\n"


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
