"""Stored answers are held against the type of their task before anything reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from blurb import tasks
from blurb.messages.errors import StoreError
from blurb.store import record

NER, CLASSES, DOCUMENTS, NUMBERS = "bc5-chem", "gad", "hoc", "biosses"
LABEL = tasks.get(DOCUMENTS).labels[0]
FIT: list[tuple[str, Any, Any]] = [
    (NER, ["B-Chemical", "O"], ["O", "I-Chemical"]),
    (NER, [], []),
    (CLASSES, "1", "0"),
    (DOCUMENTS, [LABEL], []),
    (NUMBERS, 1.0, -3.5),
]
UNFIT: list[tuple[str, Any, Any]] = [
    (NER, ["B-Chemical"], ["O", "O"]),
    (NER, ["X"], ["O"]),
    (NER, "O", "O"),
    (NER, [["O"]], [["O"]]),
    (NER, [None], ["O"]),
    (NER, None, None),
    (CLASSES, 1, 1),
    (CLASSES, ["1"], ["1"]),
    (CLASSES, "1", None),
    (DOCUMENTS, LABEL, LABEL),
    (DOCUMENTS, [1], []),
    (NUMBERS, 1.0, float("nan")),
    (NUMBERS, "1", "1"),
    (NUMBERS, 1.0, None),
    (NUMBERS, True, 1.0),
]


def _check(task: str, gold: Any, prediction: Any, unit: Any = "a", document: Any = None) -> None:
    columns = {"id": [unit], "doc_id": [document], "gold": [gold], "prediction": [prediction]}
    record.check(tasks.get(task), columns, Path("trial"))


@pytest.mark.parametrize(("task", "gold", "prediction"), FIT)
def test_answers_of_a_type(task: str, gold: Any, prediction: Any) -> None:
    _check(task, gold, prediction, document="d")


@pytest.mark.parametrize(("task", "gold", "prediction"), UNFIT)
def test_answers_of_another_type(task: str, gold: Any, prediction: Any) -> None:
    with pytest.raises(
        StoreError,
        match=r"^trial: the predictions \(.*(gold|prediction).*\) are not those of a task",
    ):
        _check(task, gold, prediction)


@pytest.mark.parametrize(("unit", "document"), [(1, None), (["a"], None), (None, None), ("a", 2)])
def test_ids_that_are_no_texts(unit: Any, document: Any) -> None:
    with pytest.raises(StoreError, match=r"the predictions \((id|doc_id)\)"):
        _check(CLASSES, "1", "1", unit, document)
