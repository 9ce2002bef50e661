"""Files that appear whole or not at all. Oracle: what the folder holds afterwards."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from blurb.messages.errors import StoreError
from blurb.system import files
from blurb.system.files import FORGOTTEN, hidden_name, new_folder, remove_forgotten, replacing_file


def test_a_replaced_file_keeps_its_content_if_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "table.npz"
    with replacing_file(path) as aside:
        aside.write_text("old")
        assert not path.exists()

    def fail() -> None:
        with replacing_file(path) as aside:
            aside.write_text("half of the new")
            raise ValueError("half")

    with pytest.raises(ValueError, match="half"):
        fail()
    assert path.read_text() == "old"
    assert [inside.name for inside in path.parent.iterdir()] == ["table.npz"]


def test_a_new_folder_appears_whole_and_the_first_of_two_processes_wins(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    with new_folder(path) as aside:
        aside.mkdir()
        (aside / "config.json").write_text("mine")
        path.mkdir()  # as another process would, meanwhile
        (path / "config.json").write_text("theirs")
    assert (path / "config.json").read_text() == "theirs"
    assert [inside.name for inside in tmp_path.iterdir()] == ["checkpoint"]


def test_a_new_folder_that_cannot_be_put_in_place_is_an_error_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    path = tmp_path / "checkpoint"
    path.write_text("a file of that name")
    with pytest.raises(OSError, match="checkpoint"), new_folder(path) as aside:
        aside.mkdir()
    assert [inside.name for inside in tmp_path.iterdir()] == ["checkpoint"]


def test_only_our_own_temporary_files_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    mine = [
        tmp_path / name
        for name in (".results.csv.2026-11-01", ".results.csv.77", ".results.csv.mine.tmp")
    ]
    ours = [hidden_name(path), hidden_name(path)]
    for file in (*mine, *ours):
        file.write_text("x")
        os.utime(file, (1, 1))
    os.utime(ours[1], (FORGOTTEN, FORGOTTEN))
    remove_forgotten(path, FORGOTTEN + 2)
    assert sorted(tmp_path.iterdir()) == sorted([*mine, ours[1]])


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": [-Infinity]}', '{"a": {"b": Infinity}}'])
def test_numbers_that_json_has_not_are_damage(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(StoreError, match=r"a\.json: cannot be read: it has the number"):
        files.read_json(tmp_path / "a.json")


def test_an_infinite_number_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": 1e999}')
    with pytest.raises(StoreError, match=r"b\.json: cannot be written"):
        files.write_json(tmp_path / "b.json", files.read_json(tmp_path / "a.json"))
    assert not (tmp_path / "b.json").exists()
