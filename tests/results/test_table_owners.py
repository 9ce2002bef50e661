"""Whose tables they are. Oracle: stores in folders of their own, and the note as the json module reads it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from blurb.messages.errors import DataError, StoreError
from blurb.results import published, tables
from blurb.store.store import Store
from tests.results.tampered import edited
from tests.store.fakes import finish, stored, trial


def store_of(folder: Path, model: str) -> Store:
    """A store with one trial of a model."""
    return stored(folder, model)


@pytest.fixture
def mine(tmp_path: Path) -> Store:
    """The store of the tables in the folder."""
    store = store_of(tmp_path / "runs", "mine")
    tables.rebuild(store, tmp_path / "leaderboard.csv")
    return store


def note(folder: Path) -> dict[str, str]:
    return json.loads((folder / tables.NOTE).read_text())


def check(store: Store, folder: Path, name: str = "leaderboard.csv") -> None:
    tables.check_owner(store, folder / name, tables.results_beside(folder / name))


def test_the_note_has_the_way_from_the_tables_to_the_store(mine: Store, tmp_path: Path) -> None:
    assert note(tmp_path) == {"leaderboard.csv": "runs"}
    tables.rebuild(mine, tmp_path / "elsewhere" / "board.csv")
    assert note(tmp_path / "elsewhere") == {"board.csv": "../runs"}


def test_tables_of_one_folder_may_be_of_two_stores(mine: Store, tmp_path: Path) -> None:
    theirs = store_of(tmp_path / "theirs", "theirs")
    tables.rebuild(theirs, tmp_path / "b.csv")
    assert note(tmp_path) == {"leaderboard.csv": "runs", "b.csv": "theirs"}
    check(mine, tmp_path)
    check(theirs, tmp_path, "b.csv")
    with pytest.raises(StoreError, match=r"b\.csv and b-results\.csv do not belong to the store .*runs: .*theirs"):
        check(mine, tmp_path, "b.csv")


def test_store_and_tables_may_move_together(mine: Store, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    moved.mkdir()
    for path in list(tmp_path.iterdir()):
        if path != moved:
            path.rename(moved / path.name)
    check(Store(moved / "runs"), moved)


def test_whoever_made_them_tables_that_are_gone_are_nobody_s(mine: Store, tmp_path: Path) -> None:
    theirs = store_of(tmp_path / "theirs", "theirs")
    for name in ("leaderboard.csv", "results.csv"):
        (tmp_path / name).unlink()
    check(theirs, tmp_path)


def test_a_store_that_is_gone_leaves_its_tables_to_whoever_has_their_rows(mine: Store, tmp_path: Path) -> None:
    shutil.copytree(mine.root, tmp_path / "copy")
    theirs = store_of(tmp_path / "theirs", "theirs")
    shutil.rmtree(mine.root)
    check(Store(tmp_path / "copy"), tmp_path)
    with pytest.raises(StoreError, match=r"they have mine on gad, seed 1, which is not in .*theirs"):
        check(theirs, tmp_path)


@pytest.mark.parametrize("damage", ["", "[]", "{", "\xff"])
def test_without_a_note_that_can_be_read_the_trials_decide(damage: str, mine: Store, tmp_path: Path) -> None:
    (tmp_path / tables.NOTE).write_text(damage, encoding="latin-1")
    check(mine, tmp_path)
    with pytest.raises(StoreError, match="they have mine on gad, seed 1"):
        check(store_of(tmp_path / "theirs", "theirs"), tmp_path)


def test_a_row_that_the_store_never_had_is_named(mine: Store, tmp_path: Path) -> None:
    """Its runs are gone from the long table; what is left of it is its line in the wide one."""
    tables.forget_owner(tmp_path / "leaderboard.csv")
    edited(tmp_path / "leaderboard.csv", 2, weights="0" * 12)
    with pytest.raises(StoreError, match="they have the row mine, which is not in"):
        check(mine, tmp_path)


def test_numbers_of_papers_belong_to_every_store(mine: Store, tmp_path: Path) -> None:
    published.add(tmp_path / "external.csv", published.Printed("us2026", "", "Theirs", {"gad": 81.5}))
    tables.rebuild(mine, tmp_path / "leaderboard.csv")
    tables.forget_owner(tmp_path / "leaderboard.csv")
    check(mine, tmp_path)


def test_a_trial_that_was_planned_or_stands_in_no_row_file_is_the_store_s(mine: Store, tmp_path: Path) -> None:
    tables.forget_owner(tmp_path / "leaderboard.csv")
    shutil.rmtree(mine.path("mine", "gad", trial().hash))
    check(mine, tmp_path)  # the row file has it still
    finish(mine, "mine", trial(), 0.5)
    (tmp_path / "leaderboard.csv").unlink()
    for path in (mine.root / "mine" / "rows").iterdir():
        path.unlink()
    check(mine, tmp_path)  # its folder is there


def test_forgetting_one_table_keeps_what_is_noted_of_others(mine: Store, tmp_path: Path) -> None:
    tables.rebuild(store_of(tmp_path / "theirs", "theirs"), tmp_path / "b.csv")
    tables.forget_owner(tmp_path / "leaderboard.csv")
    tables.forget_owner(tmp_path / "never.csv")
    assert note(tmp_path) == {"b.csv": "theirs"}


def test_a_table_without_the_columns_that_tell_is_refused_with_its_name(mine: Store, tmp_path: Path) -> None:
    tables.forget_owner(tmp_path / "leaderboard.csv")
    (tmp_path / "results.csv").write_text("schema,model\n5,mine\n")
    with pytest.raises(DataError, match=r"results\.csv:1: missing columns: task, seed, trial"):
        check(mine, tmp_path)
