"""The schema of a store: told before any lease, whichever of two versions was there first. Oracle: the files in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from blurb.cli import cli
from blurb.messages.errors import StoreError
from blurb.store import row_trials as rows
from blurb.store.store import SCHEMA_FILE, Store
from tests.store.fakes import finish, row, stored, trial


def files(root: Path) -> set[str]:
    """Everything below a folder."""
    return {path.relative_to(root).as_posix() for path in root.rglob("*")}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A store with a finished row."""
    store = stored(tmp_path / "runs", "m")
    return store.root


@pytest.mark.parametrize("begins", ["a row", "a trial", "a lease"])
def test_whatever_is_written_first_makes_the_store_one_of_this_schema(begins: str, tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    assert not store.root.exists()
    if begins == "a row":
        rows.write(store, row("m", trial()))
    elif begins == "a trial":
        finish(store, "m", trial(), 0.5)
    else:
        with store.locked():
            pass
    assert json.loads((store.root / SCHEMA_FILE).read_text()) == {"schema": 1}


COMMANDS = (
    "leaderboard show",
    "runs",
    "rescore",
    "gc",
    "status",
    "check m --baseline m",
    "worker",
    "retry",
    "errors m",
)


@pytest.mark.extensions
@pytest.mark.parametrize("command", COMMANDS)
def test_a_store_of_before_is_refused_with_the_script_that_rewrites_it(
    command: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root.parent)
    (root / SCHEMA_FILE).unlink()
    before = files(root)
    result = CliRunner().invoke(cli, command.split())
    text = str(result.exception)
    assert isinstance(result.exception, StoreError)
    assert "\n" not in text
    assert text.startswith("runs: a store of before schema 1")
    assert "python -m benchmarks.to_schema_1" in text
    assert files(root) == before


def test_two_versions_refuse_each_others_stores_before_any_lease(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = tmp_path / "newer"
    empty = Store(newer)  # before the other version began it
    with monkeypatch.context() as other:
        other.setattr("blurb.store.store.SCHEMA", 2)
        with pytest.raises(StoreError, match="no schema version of a store"):
            Store(root)
        stored(newer, "m")
    before = files(newer)
    refused = "newer: a store of schema version 2; this version of blurb reads 1; update blurb"
    with pytest.raises(StoreError, match=refused):
        Store(newer)
    with pytest.raises(StoreError, match=refused), empty.locked():
        pass
    with pytest.raises(StoreError, match=refused), empty.aside(newer / "m" / "gad" / ("0" * 16)):
        pass
    with pytest.raises(StoreError, match=refused):
        rows.write(empty, row("n", trial()))
    assert files(newer) == before


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"schema": "1"}', '{"schema": true}', '{"schema": 0}'])
def test_a_marker_that_says_nothing_is_no_schema(content: str, root: Path) -> None:
    (root / SCHEMA_FILE).write_text(content)
    with pytest.raises(StoreError, match=r"store\.json"):
        Store(root)


@pytest.mark.parametrize("name", ["results.csv", "store.json", "org/leaderboard.CSV"])
def test_no_model_has_the_folder_of_a_file(name: str, tmp_path: Path) -> None:
    store = stored(tmp_path, name)
    assert [one.model for one in rows.read(store)] == [name]
    assert not any(
        path.is_dir() and path.suffix.lower() in (".csv", ".json") and "%" not in path.name
        for path in tmp_path.iterdir()
    )
    assert store.folder(name) == Store(tmp_path).folder(name)
