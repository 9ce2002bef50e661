"""Parts that all readers share: each example once, and labels without invisible blanks."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from functools import lru_cache
from operator import index
from pathlib import Path
from typing import Any, TypeVar

from blurb.data.schema import Example
from blurb.messages import BLANKS, DataError, ErrorCollector, count_noun, notify
from blurb.table_files import FileLine

T = TypeVar("T")


def make_examples(
    records: Iterable[tuple[FileLine, T]],
    example: Callable[[FileLine, T], Example],
    errors: ErrorCollector,
) -> Iterator[Example]:
    """The examples of the records of a file; an id that occurs again is a fault.

    :param example: makes an example, or raises a DataError
    """
    seen: dict[str, FileLine] = {}
    for line, record in records:
        with errors:
            row = example(line, record)
            first = seen.setdefault(row["id"], line)
            if first is not line:
                raise line.error(
                    f"the id {row['id'][:40]!r} already occurs in line {first.number}."
                )
            yield row


@lru_cache(maxsize=4096)  # files have few labels, many times
def _without_blanks(label: str) -> str:
    return BLANKS.sub("", label)


_cut: ContextVar[list[str] | None] = ContextVar("_cut", default=None)
"""Labels with blanks at their ends, in the file that is being read."""


def trim_label(label: str) -> str:
    """A label or tag without blanks at its ends, which nobody sees; `telling_trimmed_labels` counts them."""
    short = _without_blanks(label)
    if short != label and (cut := _cut.get()) is not None:
        cut.append(label)
    return short


def trim_labels(labels: Sequence[str]) -> list[str]:
    """Labels as of `trim_label`."""
    # Files have millions of words with a few tags, which are looked at once a sentence.
    whole = all(_without_blanks(label) == label for label in {*labels})
    return list(labels) if whole else list(map(trim_label, labels))


def label_text(value: Any) -> str:
    """A label as text, which may be a number: 1.0 is that of 1, as frames have it beside empty cells.

    :raises TypeError: for what is neither a text nor a finite number
    """
    if isinstance(value, str):
        return trim_label(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError
    return str(int(value) if float(value).is_integer() else value)


@contextlib.contextmanager
def telling_trimmed_labels(path: Path) -> Iterator[None]:
    """One notice of all labels of a file that `trim_label` shortens."""
    cut: list[str] = []
    token = _cut.set(cut)
    try:
        yield
    finally:
        _cut.reset(token)
    if cut:
        notify(f"{path}: blanks at the ends of {count_noun(len(cut), 'label')} were cut.")


def span_of(value: Any, role: str, text: str) -> dict[str, Any]:
    """An entity of a text, in code points.

    :param value: of numpy, too
    :param role: what messages call it
    :raises DataError: for what is none, without a place
    """
    try:
        start, end, kind = index(value["start"]), index(value["end"]), value["type"]
        if isinstance(value["start"], bool) or isinstance(value["end"], bool):
            raise TypeError
    except (TypeError, KeyError, IndexError):
        what = "must be an object with start and end (exclusive), which are whole numbers, and type"
        raise DataError(f"{role} {what}.") from None
    if not isinstance(kind, str) or not kind:
        raise DataError(f"the type of {role} must be a text.")
    if not 0 <= start < end <= len(text):
        raise DataError(
            f"{role} is from {start} to {end} (exclusive), but the text has {len(text)} code points."
        )
    return {"start": start, "end": end, "type": kind}


def check_label(label: str, allowed: tuple[str, ...], line: FileLine) -> str:
    """A label without blanks at its ends; DataError if it is none of those that are allowed."""
    return check_labels([label], allowed, line.below)[0]


def check_labels(
    labels: Sequence[str], allowed: tuple[str, ...], line: Callable[[int], FileLine]
) -> list[str]:
    """Labels as of `check_label`.

    :param line: gives the line of the label at a place
    """
    short = trim_labels(labels)
    if unknown := {*short}.difference(allowed):
        place = next(place for place, label in enumerate(short) if label in unknown)
        raise line(place).error(
            f"unknown label {short[place][:40]!r}; expected one of: {', '.join(allowed)}."
        )
    return short
