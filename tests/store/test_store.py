"""A trial is done if and only if DONE.json is there and agrees."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from blurb.messages.errors import StoreError
from blurb.store.record import read_predictions, write_predictions
from blurb.store.store import FILES, Store
from blurb.system import leases
from tests.store.fakes import finish, trial


def test_identity_covers_every_field() -> None:
    first = trial()
    changes: list[dict[str, object]] = [
        {"task": "ddi"},
        {"weights": "other"},
        {"tokenizer": "other"},
        {"data": "other"},
        {"seed": 2},
        {"precision": "bf16"},
        {"settings": {**first.settings, "head": "crf"}},
        {"recipe": 99},
        {"plugins": {"head": "0f"}},
    ]
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
    path = store.path("m", "gad", "ab" * 8)

    def interrupted() -> None:
        with store.writing(path) as aside:
            (aside / "spec.json").write_text("{}")
            raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        interrupted()
    assert list(path.parent.iterdir()) == []


def test_a_trial_without_all_files_is_not_sealed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(StoreError, match=r"metrics\.json"), store.writing(store.path("m", "gad", "ab" * 8)):
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
    with pytest.raises(StoreError, match=r"spec\.json: cannot be read"):
        store.read_spec(path)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A finished trial in a store."""
    return finish(Store(tmp_path / "runs"), "m", trial(), 0.5)


def new(place: Path, text: str) -> Path:
    """Files of the same trial in a temporary folder, told apart by their log."""
    aside = place.with_name(f".{place.name}.0f.new")
    shutil.copytree(finish(Store(place.parents[3] / "other"), "m", trial(), 0.5), aside)
    (aside / "log.txt").write_text(text)
    return aside


def test_a_finished_trial_of_another_stays_unless_it_is_to_be_replaced(place: Path) -> None:
    store = Store(place.parents[2])
    theirs = (place / "log.txt").read_bytes()
    aside = new(place, "mine")
    assert not store.put(aside, place)
    assert (place / "log.txt").read_bytes() == theirs
    assert store.put(aside, place, replace=True)
    assert (place / "log.txt").read_text() == "mine"
    assert list(place.parent.iterdir()) == [place]


@pytest.mark.parametrize("there", ["damaged", "empty", "nothing"])
def test_what_is_not_finished_is_replaced(place: Path, there: str) -> None:
    store = Store(place.parents[2])
    for path in place.iterdir() if there != "damaged" else [place / "DONE.json"]:
        path.unlink()
    if there == "nothing":
        place.rmdir()
    assert store.put(new(place, "mine"), place)
    assert store.is_done(place)
    assert list(place.parent.iterdir()) == [place]


def test_a_trial_that_another_put_there_meanwhile_is_put_back(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was damaged when this process looked, and whole when it moved it away."""
    store = Store(place.parents[2])
    theirs = (place / "log.txt").read_bytes()
    looks = iter([False])
    is_done = store.is_done
    monkeypatch.setattr(store, "is_done", lambda path: next(looks, True) and is_done(path))
    assert not store.put(new(place, "mine"), place)
    assert (place / "log.txt").read_bytes() == theirs


class Killed(BaseException):
    """Ends a process in a test."""


@contextlib.contextmanager
def killed_at(step: int) -> Iterator[None]:
    """From this rename on nothing changes any more on disk."""
    rename, rmtree = Path.rename, shutil.rmtree
    renames = 0

    def renamed(self: Path, target: Path) -> Path:
        nonlocal renames
        renames += 1
        if renames > step:
            raise Killed
        return rename(self, target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "rename", renamed)
        patch.setattr(shutil, "rmtree", lambda *given, **more: None if renames > step else rmtree(*given, **more))
        with contextlib.suppress(Killed):
            yield


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("step", range(5))
def test_a_kill_at_any_rename_of_a_replacement_is_put_right_by_the_next(place: Path, step: int, whole: bool) -> None:
    """The first rename finds something there, the second moves that away, the third is the last."""
    store = Store(place.parents[2])
    old = (place / "log.txt").read_bytes()
    if not whole:
        (place / "metrics.json").unlink()
    aside = new(place, "mine")
    with killed_at(step):
        store.put(aside, place, replace=whole)
    assert place.exists() is (step != 2)
    store.clean(place)
    if step >= 3:
        assert (place / "log.txt").read_text() == "mine"
    elif whole or step < 2:
        assert (place / "log.txt").read_bytes() == old
        assert store.is_done(place) is whole
    assert place.exists() is (whole or step != 2)
    assert [path for path in place.parent.iterdir() if path != place] == []


def test_who_lost_the_lease_puts_nothing_there(place: Path) -> None:
    store = Store(place.parents[2])
    theirs = (place / "log.txt").read_bytes()
    aside = new(place, "mine")
    with leases.held(store.lease(place)) as lease:
        store.lease(place).unlink()
        with leases.held(store.lease(place)):
            with pytest.raises(leases.Lost):
                store.put(aside, place, lease, replace=True)
            assert (place / "log.txt").read_bytes() == theirs
            assert aside.exists()


def test_a_replacement_that_fails_leaves_the_old_trial_in_its_place(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk refuses the last of the three renames."""
    store = Store(place.parents[2])
    theirs = (place / "log.txt").read_bytes()
    aside = new(place, "mine")
    rename = Path.rename

    def refused(self: Path, target: Path) -> Path:
        if self == aside:
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(OSError, match="Input/output error"):
        store.put(aside, place, replace=True)
    assert (place / "log.txt").read_bytes() == theirs
    assert sorted(place.parent.iterdir()) == sorted([place, aside])


@pytest.mark.parametrize("lacks", ["split", "gold", "id"])
def test_predictions_without_a_column_are_damage(lacks: str, tmp_path: Path) -> None:
    columns = {name: ["a"] for name in ("split", "id", "gold") if name != lacks}
    write_predictions(tmp_path / "predictions.parquet", columns)
    with pytest.raises(StoreError, match=r"predictions\.parquet: cannot be read: .*" + lacks):
        read_predictions(tmp_path / "predictions.parquet", ("id", "gold"), "test")
