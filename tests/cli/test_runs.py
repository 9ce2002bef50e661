"""`blurb runs`: rows as files, and the tables after a row is renamed or removed."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from blurb.cli import cli
from blurb.execution import row_edits
from blurb.messages.errors import UnknownName
from blurb.results import from_store, tables
from blurb.store import row_contents, row_trials as rows
from blurb.store.store import Store
from blurb.system import leases
from blurb.system.files import write_json
from tests.rewriting import csv_lines
from tests.store.fakes import finish, row, stored, trial


@pytest.fixture
def store(here: Path) -> Store:
    """A store with a finished row, and one that has a trial of each state; the tables of it beside."""
    found = stored(Path("runs"), "whole", trial("gad", 1))
    finish(found, "part", trial("gad", 1), 0.75)
    finish(found, "part", trial("gad", 2), 0.5)
    (found.path("part", "gad", trial("gad", 2).hash) / "log.txt").write_text("other")
    failed = found.path("part", "hoc", trial("hoc", 1).hash)
    failed.parent.mkdir(parents=True)
    write_json(row_contents.failure_of(failed), {"message": "out of memory"})
    rows.write(
        found, row("part", trial("gad", 1), trial("gad", 2), trial("hoc", 1), trial("ddi", 1))
    )
    finish(found, "part", trial("biosses", 3), 0.5)
    tables.rebuild(found, Path("runs/leaderboard.csv"), lambda text: None)
    return found


def run(*arguments: str, typed: str = "") -> Result:
    return CliRunner().invoke(cli, ["runs", *arguments], input=typed)


def models() -> list[str]:
    return [line["model"] for line in csv_lines(Path("runs/leaderboard.csv"))]


def test_the_trials_of_a_row(store: Store) -> None:
    lines = json.loads(run("show", "part", "--format", "json").output)
    assert [(line["task"], line["seed"], line["state"]) for line in lines] == [
        ("gad", 1, "done"),
        ("gad", 2, "damaged"),
        ("hoc", 1, "failed"),
        ("ddi", 1, "to run"),
    ]
    assert lines[0]["dev"] == lines[0]["test"] == 75.0
    assert lines[0]["seconds"] == 61.0
    assert Path(lines[0]["path"], "DONE.json").exists()
    assert [line["message"] for line in lines] == ["", "log.txt", "out of memory", ""]
    with leases.held(store.lease(store.path("part", "gad", trial("gad", 1).hash))):
        assert "running" in run("show", "part").output
    assert "hoc, seed 1, failed: out of memory" in run("show", "part quick lr=0.001").output


def test_looking_writes_nothing(store: Store) -> None:
    before = {path: path.stat().st_mtime_ns for path in Path().rglob("*")}
    assert {run(*arguments).exit_code for arguments in ((), ("show", "part"))} == {0}
    assert {path: path.stat().st_mtime_ns for path in Path().rglob("*")} == before


def test_a_row_is_removed_after_confirmation_only(store: Store) -> None:
    result = run("rm", "whole", typed="n\n")
    assert result.exit_code == 1
    assert "whole quick lr=0.001: 1 trial of its own will be deleted." in result.output
    assert "bytes (0.0 MB) will be freed" in result.output
    assert sorted(models()) == ["part", "whole"]
    assert store.is_done(store.path("whole", "gad", trial("gad", 1).hash))
    result = run("rm", "whole", "--yes")
    assert "Rebuilt runs/leaderboard.csv" in result.output
    assert models() == ["part"]
    assert not (store.root / "whole").exists()


def test_a_row_is_renamed_and_its_tables_with_it(store: Store) -> None:
    result = run("rename", "whole", "my bert")
    assert result.exit_code == 1  # as with every command: another row has a damaged trial
    assert "part/gad" in result.stderr
    assert result.stdout.startswith(
        "whole quick lr=0.001 is now my bert quick lr=0.001.\nRebuilt runs/leaderboard.csv."
    )
    assert sorted(models()) == ["my bert", "part"]


def test_a_removal_that_was_killed_before_the_tables_is_ended_by_the_same_command(
    store: Store,
) -> None:
    (planned,) = [each for each in rows.read(store) if each.model == "whole"]
    row_edits.remove(store, planned)
    assert sorted(models()) == ["part", "whole"]
    result = run("rm", "whole", "--yes")
    assert "whole was deleted before. Rebuilt runs/leaderboard.csv" in result.output
    assert models() == ["part"]
    with pytest.raises(UnknownName):
        raise run("rm", "whole", "--yes").exception  # type: ignore[misc]


def test_a_renaming_that_was_killed_before_the_tables_is_ended_by_the_same_command(
    store: Store,
) -> None:
    (planned,) = [each for each in rows.read(store) if each.model == "whole"]
    row_edits.rename(store, planned, "mine")
    result = run("rename", "whole", "other")
    assert isinstance(result.exception, UnknownName)
    assert sorted(models()) == ["part", "whole"]
    result = run("rename", "whole", "mine")
    assert "whole was renamed before. Rebuilt runs/leaderboard.csv" in result.output
    assert sorted(models()) == ["mine", "part"]


def test_one_of_several_rows_of_a_model(here: Path) -> None:
    """Oracle: the scores of all rows before."""
    shutil.copytree(Path(__file__).parents[1] / "golden" / "store", "runs")
    before = {row.name: row.means() for row in from_store.read(Store(Path("runs")))}
    first, second = (
        "golden-encoder smoke max_length=32",
        "other-encoder quick batch_size=16 epochs=40 lr=0.01",
    )
    assert run("rm", first, "--yes").exit_code == 0
    assert run("rename", second, "mine").exit_code == 0
    after = {row.name: row.means() for row in from_store.read(Store(Path("runs")))}
    assert before.pop(first)
    assert after.pop("mine quick batch_size=16 epochs=40 lr=0.01") == before.pop(second)
    assert after == before
    assert not Path("runs/other-encoder").exists()


def test_tables_of_another_store_are_left_alone_and_it_is_said(store: Store) -> None:
    stored(Path("other"), "mine", trial("gad", 1))
    result = run(
        "rm", "mine", "--output", "other", "--leaderboard", "runs/leaderboard.csv", "--yes"
    )
    assert result.exit_code == 0
    assert "leaderboard.csv was left as it was" in result.output
    assert "blurb rescore --leaderboard FILE" in result.output
    assert sorted(models()) == ["part", "whole"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["show", "hole"], "Did you mean 'whole'"),
        (["rm", "nobody", "--yes"], "Available: part, whole"),
        (["--output", "nowhere"], "There is no store at nowhere"),
    ],
)
def test_what_is_wrong_is_said(store: Store, arguments: list[str], told: str) -> None:
    assert told in str(run(*arguments).exception)
    assert sorted(path.name for path in store.root.iterdir() if path.is_dir()) == ["part", "whole"]
