"""Converts word-per-line files of originals from `token TAB tag` to BLURB's `token TAB B|I|O`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from blurb.messages.errors import DataError

Line = tuple[int, str]


def untyped(lines: Iterable[Line], path: Path) -> Iterator[str]:
    """Reduces every tag to its first letter, as BLURB's kit does (`label[0]`); keeps blank lines."""
    for number, line in lines:
        if not line:
            yield "\n"
            continue
        cells = line.split("\t")
        if len(cells) != 2 or cells[1][:1] not in ("B", "I", "O"):
            raise DataError("expected a token, a TAB and a tag that starts with B, I or O.", path, number)
        yield f"{cells[0]}\t{cells[1][0]}\n"
