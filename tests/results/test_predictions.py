"""Predicted examples as sums. Oracle: what was predicted, counted by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from blurb import formulations, tasks
from blurb.results import from_store, predictions
from blurb.store import row_trials as rows
from blurb.store.record import Record
from blurb.store.store import Store
from tests.results import played
from tests.store import fakes

LABELS = tasks.get("hoc").labels


@pytest.fixture
def partly(tmp_path: Path) -> dict[int, Record]:
    """A run of which two texts are one document, and two have none."""
    store, trial = Store(tmp_path), fakes.trial("hoc")
    columns: dict[str, list[Any]] = {
        "split": ["dev"] * 4 + ["test"] * 4,
        "id": [f"{split}.{i}" for split in ("dev", "test") for i in range(4)],
        "doc_id": ["a", "a", None, None] * 2,
        "gold": [[LABELS[0]], [LABELS[1]], [LABELS[0]], [LABELS[2]]] * 2,
        "prediction": [[LABELS[0]], [], [LABELS[1]], []] * 2,
        "majority": [[]] * 8,
        "scores": [None] * 8,
    }
    played.finish(store, "m", trial, formulations.bind(tasks.get("hoc"), {}), columns)
    rows.write(store, fakes.row("m", trial))
    (row,) = from_store.read(store)
    return row.records_of("hoc")


def test_a_text_without_a_document_is_one_of_its_own(partly: dict[int, Record]) -> None:
    found = predictions.load(partly)
    assert len(found.names) == len(set(found.names)) == found.counts.shape[1] == 3
    assert found.counts[0].tolist() == [[1, 1, 2], [0, 1, 1], [0, 0, 1]]  # right, predicted, gold
    assert list(predictions.mistakes(partly, "test").values()) == [1, 2, 1]


def test_where_nothing_is_left_there_are_no_clusters(partly: dict[int, Record]) -> None:
    left = predictions.load(partly, drop={"test.0", "test.1"})
    assert left.counts[0].tolist() == [[0, 1, 1], [0, 0, 1]]
    assert predictions.load(partly, drop={f"test.{i}" for i in range(4)}) is None
    assert predictions.load({}) is None
