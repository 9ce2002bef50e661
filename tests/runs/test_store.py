"""A trial is done if and only if DONE.json is there and agrees."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from blurb.errors import StoreError
from blurb.runs.store import FILES, Store
from tests.runs.fakes import finish, trial


def test_identity_covers_every_field() -> None:
    first = trial()
    changes: list[dict[str, object]] = [
        {"task": "ddi"}, {"weights": "other"}, {"tokenizer": "other"}, {"data": "other"}, {"seed": 2},
        {"precision": "bf16"}, {"settings": {**first.settings, "head": "crf"}}, {"recipe": 99},
        {"plugins": {"head": "0f"}},
    ]  # fmt: skip
    hashes = {replace(first, **change).hash for change in changes}  # type: ignore[arg-type]
    assert len(hashes | {first.hash}) == len(changes) + 1
    assert replace(first, settings=dict(reversed(list(first.settings.items())))).hash == first.hash


@pytest.mark.parametrize("name", [*FILES, "DONE.json"])
def test_a_changed_or_missing_file_makes_a_trial_undone(tmp_path: Path, name: str) -> None:
    store = Store(tmp_path)
    path = finish(store, "m", trial(), 0.5)
    assert store.is_done(path)
    with (path / name).open("ab") as file:
        file.write(b" x")
    assert not store.is_done(path)
    path = finish(store, "m", trial(seed=2), 0.5)
    (path / name).unlink()
    assert not store.is_done(path)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_neither_there_nor_listed_is_damage(tmp_path: Path, name: str) -> None:
    store = Store(tmp_path)
    path = finish(store, "m", trial(), 0.5)
    done = json.loads((path / "DONE.json").read_text())
    del done["sha256"][name]
    (path / "DONE.json").write_text(json.dumps(done))
    (path / name).unlink()
    assert store.damage(path) == [name]


def test_an_error_while_writing_leaves_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    path = store.path("m", "gad", "abc")

    def interrupted() -> None:
        with store.writing(path) as aside:
            (aside / "spec.json").write_text("{}")
            raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        interrupted()
    assert list(path.parent.iterdir()) == []


def test_a_trial_without_all_files_is_not_sealed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(StoreError, match=r"metrics\.json"), store.writing(store.path("m", "gad", "abc")):
        pass


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    store = Store(tmp_path)
    planned = trial()
    record = store.read(finish(store, "org/model:x", planned, 0.25))
    assert record.trial == planned
    assert record.score("test") == 0.25
    assert record.score("test", baseline=True) == 0.2


def test_deep_json_is_damage_and_not_a_traceback(tmp_path: Path) -> None:
    store = Store(tmp_path)
    path = finish(store, "m", trial(), 0.5)
    (path / "DONE.json").write_text("[" * 100_000)
    assert store.damage(path) == ["DONE.json"]
    (path / "spec.json").write_text("[" * 100_000)
    with pytest.raises(StoreError, match=r"spec\.json cannot be read"):
        store.read_spec(path)


def test_a_store_of_another_schema_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path)
    path = finish(store, "m", trial(), 0.5)
    done = json.loads((path / "DONE.json").read_text())
    (path / "DONE.json").write_text(json.dumps({**done, "schema": 99}))
    with pytest.raises(StoreError, match="schema version 99"):
        store.is_done(path)
