"""Answers as a file or a script gives them, and the one place that reads the values of strangers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blurb.messages.errors import BlurbError, DataError
from blurb.system.parquet import UNREADABLE

UNKNOWN = "a value that cannot be read."


@dataclass(frozen=True)
class Answer:
    """What a file says of one example.

    :param line: number of its (first) line; of a JSON object or a Parquet file, of its entry
    :param id: "" if the file does not name examples
    :param value: as it was written: a text, a number, or a list
    :param words: words of the example, if the file has them
    :param text: of the example, if the file has it
    :param lines: of each word in CoNLL
    """

    line: int
    id: str
    value: Any
    words: Sequence[str] | None = None
    text: str | None = None
    lines: Sequence[int] = ()


@dataclass(frozen=True)
class AnswerFile:
    """All answers of a file.

    :param dataset: BLURB's spelling of its dataset, in a submission
    :param gold_column: the column that was taken, if its name is that of gold answers and nobody chose it; else ""
    """

    path: Path
    answers: Sequence[Answer]
    dataset: str = ""
    gold_column: str = ""

    def error(self, what: str, answer: Answer | None = None, fix: str = "") -> DataError:
        """An error at an answer."""
        return DataError(what, self.path, None if answer is None else answer.line, fix=fix)


@contextlib.contextmanager
def reading(path: Path, line: int | None, what: Callable[[], str] = lambda: UNKNOWN) -> Iterator[None]:
    """The one place where whatever the values of strangers raise becomes an error with their file and line."""
    try:
        yield
    except BlurbError:
        raise
    except UNREADABLE:
        raise DataError(what(), path, line) from None
