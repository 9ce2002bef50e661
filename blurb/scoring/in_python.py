"""Predictions that a script has in its hands."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from blurb.messages.errors import DataError
from blurb.scoring.columns import PREDICTION, Answer, AnswerFile, Records, is_header, of_records, reading
from blurb.tasks import Task

PATH = Path("predictions")
"""What messages call them."""


def read(given: Any, task: Task, column: str = "") -> AnswerFile:
    """The answers in a mapping from id to prediction, a sequence in the order of the examples, or a table.

    :param given: of tables: a frame of pandas, a dataset, records, or columns by name
    :raises DataError: for what is none of these
    """
    with reading(PATH, None):
        if hasattr(given, "reset_index") and _has_ids(given):
            given = given.reset_index() if hasattr(given, "itertuples") else given.to_frame(PREDICTION).reset_index()
        for form in ("to_pylist", "to_dicts", "tolist"):  # of Arrow and polars, an array or a column of pandas
            given = getattr(given, form)() if hasattr(given, form) else given
        given = given if isinstance(given, Mapping) or hasattr(given, "itertuples") else list(given)
        table = _table(given, task)
        if table is not None:
            return of_records(table, task, PATH, column)
        pairs = given.items() if isinstance(given, Mapping) else (("", value) for value in given)
        answers = [Answer(place, str(key), _plain(value, place)) for place, (key, value) in enumerate(pairs, 1)]
    if column or not answers:
        raise DataError("these predictions have no columns." if column else "there are no predictions.", PATH)
    return AnswerFile(PATH, answers)


def _has_ids(given: Any) -> bool:
    """Whether the index of a frame or a column of pandas has ids, and does not only count."""
    return any(name is not None for name in given.index.names) or all(isinstance(name, str) for name in given.index)


def _table(given: Any, task: Task) -> Records | None:
    """What has named columns; None for predictions alone."""
    if hasattr(given, "itertuples"):
        return _records([*map(str, given.columns)], list(given.itertuples(index=False, name=None)))
    if isinstance(given, Mapping):
        names = [*map(str, given)]
        listed = all(isinstance(cells, list | tuple) or hasattr(cells, "tolist") for cells in given.values())
        return _records(names, list(zip(*given.values(), strict=True))) if listed and is_header(names, task) else None
    if not all(isinstance(row, Mapping) for row in given):
        return None
    names = [*dict.fromkeys(str(name) for row in given for name in row)]
    if not is_header(names, task):
        return None  # probabilities of labels
    return Records(names, lambda needed: ((place, _plain(row, place)) for place, row in enumerate(given, 1)))


def _records(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Records:
    named = (dict(zip(names, row, strict=True)) for row in rows)
    return Records(names, lambda needed: ((place, _plain(row, place)) for place, row in enumerate(named, 1)))


def _plain(value: Any, place: int) -> Any:
    """A value as JSON has it, with the numbers of numpy and torch as those of Python."""
    with reading(PATH, place):
        value = value.tolist() if hasattr(value, "tolist") else value
        return json.loads(json.dumps(value, default=lambda one: one.tolist() if hasattr(one, "tolist") else str(one)))
