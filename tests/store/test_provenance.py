"""Provenance: what is written is read. Oracle: the content by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blurb import tasks
from blurb.messages.errors import StoreError
from blurb.store.trial import PROVENANCE, Configuration, Provenance, read_provenance
from blurb.tasks import Task
from blurb.tasks._file import READER


def test_what_is_written_is_read(tmp_path: Path) -> None:
    configuration = Configuration("quick@2", "0" * 64, {"lr": 0.1}, "bf16", "blurb", "a note")
    facts = {"train_seconds": 2.5, "train_units": 64, "features_version": 6, "train_inputs": {"truncated": 3}}
    made = Provenance("identical", "m", None, 7, configuration, "2026-01-31T12:00:00Z", facts, {"torch": "2"})
    (tmp_path / PROVENANCE).write_text(json.dumps(made.content), encoding="utf-8")
    again = read_provenance(tmp_path)
    assert again == made
    assert (again.train_seconds, again.train_units) == (2.5, 64)
    assert (again.truncated("train"), again.truncated("dev"), again.predict_seconds) == (3, None, None)
    assert "declaration" not in made.content


def test_a_task_of_a_file_is_that_of_then() -> None:
    declared = {**vars(tasks.get("gad")), "name": "mine", "file": "gone.toml", "labels": ["0", "1"]}
    then = Task(**{**declared, "reader": READER, "builder": "", "source": None})  # its code is none that it names
    assert Provenance(declaration=declared).task("mine") == then
    assert Provenance().task("gad") is tasks.get("gad")


def test_what_nobody_said_is_not_known() -> None:
    assert (Provenance().truncated("test"), Provenance().predicted) == (None, None)
    assert Provenance(facts={"predicted": {"learner": "probe", "type": "qa", "seconds": 3}}).predicted == (
        "probe",
        "qa",
        3.0,
    )
    assert Provenance(facts={"train_seconds": float("nan")}).train_seconds is None


@pytest.mark.parametrize("content", ["", "[]", '{"facts": [1]}', '{"environment": 3}', '{"configuration": {"x": 1}}'])
def test_damage_is_told_with_the_file(tmp_path: Path, content: str) -> None:
    (tmp_path / PROVENANCE).write_text(content, encoding="utf-8")
    with pytest.raises(StoreError, match=r"provenance\.json"):
        read_provenance(tmp_path)
