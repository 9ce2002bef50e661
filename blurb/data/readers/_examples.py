"""What all readers share: each example once, and labels without the blanks that nobody sees."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

from blurb.data.schema import Example
from blurb.lines import FileLine
from blurb.messages.errors import ErrorCollector, notify
from blurb.messages.text import plural

T = TypeVar("T")


def examples(
    records: Iterable[tuple[FileLine, T]], example: Callable[[FileLine, T], Example], errors: ErrorCollector
) -> Iterator[Example]:
    """The examples of the records of a file; an id that occurs again is a fault.

    :param example: makes an example, or raises a DataError
    """
    seen: dict[str, FileLine] = {}
    for line, record in records:
        row = errors.tried(example, line, record)
        if row is None:
            continue
        first = seen.setdefault(row["id"], line)
        if first is line:
            yield row
        else:
            errors.add(line.error(f"the id {row['id'][:40]!r} already occurs in line {first.number}."))


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

    :raises TypeError: for what is neither a text nor a finite number
    """
    if isinstance(value, str):
        return trimmed(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError
    return str(int(value) if float(value).is_integer() else value)


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


def check_label(label: str, allowed: tuple[str, ...], line: FileLine) -> str:
    """A label without blanks at its ends; DataError if it is none of those that are allowed."""
    label = trimmed(label)
    if label not in allowed:
        raise line.error(f"unknown label {label[:40]!r}; expected one of: {', '.join(allowed)}.")
    return label
