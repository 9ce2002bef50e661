"""A board from its first row to a withdrawn one, by the commands; what was done behind the ledger's back is told."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

import blurb
from blurb import tasks
from blurb.board import ledger
from blurb.corpora import demo
from blurb.data.splits import read_split
from tests.board.test_verification import seal
from tests.cli.in_process import blurb as command
from tests.scoring.test_forms import answers

VERIFY = ("leaderboard", "verify", "board", "--suite", "demo")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A board with two rows of predictions, verified; and the files of the rows beside it."""
    folder = tmp_path_factory.mktemp("board")
    (folder / "board" / "rows").mkdir(parents=True)
    (folder / "board" / ledger.FILE).touch()
    units = read_split(tasks.get("gad"), demo.prepare(), "test")
    for name in ("one", "other"):
        found = answers("gad", units)
        blurb.score("gad", found if name == "one" else found[::-1], suite="demo", add=name, output=folder / "runs")
        code, _, err = command(["export", "row", name, "--output", "runs", "--out", name], folder)
        assert code == 0, err
        submit = ["leaderboard", "submit", "board", name, "--as", f"row-{name}", "--by", "a group"]
        code, out, err = command(submit, folder)
        assert (code, out) == (0, f"Added: board/rows/row-{name}\n"), err
    code, _, err = command([*VERIFY, "--record", "the board"], folder)
    assert (code, err) == (0, "New entries in the ledger: 2\n")
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "copy"))


def events(folder: Path) -> list[tuple[str, str]]:
    return [(entry.event.value, entry.row) for entry in ledger.read(folder / "board" / ledger.FILE)]


def test_rows_are_added_and_verified(folder: Path) -> None:
    names = ("row-one", "row-other")
    assert events(folder) == [*(("added", name) for name in names), *(("verified", name) for name in names)]
    code, out, _ = command([*VERIFY, "--format", "json"], folder)
    assert code == 0
    _, schema, _ = command(["schema", "leaderboard", "verify"], folder)
    jsonschema.validate(json.loads(out), json.loads(schema))
    content = json.loads(out)
    assert [(row["row"], row["level"], row["recorded"]) for row in content["rows"]] == [
        (name, "recomputed", "recomputed") for name in names
    ]
    assert content["problems"] == []
    code, _, err = command([*VERIFY, "--record", "the board"], folder)
    assert (code, err) == (0, "New entries in the ledger: 0\n")


def test_a_withdrawn_row_leaves_its_entry(folder: Path) -> None:
    released = shutil.copy(folder / "board" / ledger.FILE, folder / "released.jsonl")
    withdraw = ["leaderboard", "withdraw", "board", "row-one", "--by", "a group", "--reason", "test was in pretraining"]
    assert command(withdraw, folder)[0] == 0
    assert not (folder / "board" / "rows" / "row-one").exists()
    assert events(folder)[-1] == ("withdrawn", "row-one")
    assert command([*VERIFY, "--since", released], folder)[0] == 0
    code, _, err = command(withdraw, folder)
    assert (code, "there is no row 'row-one'" in err) == (2, True)


def test_a_row_that_is_gone_without_an_entry(folder: Path) -> None:
    shutil.rmtree(folder / "board" / "rows" / "row-one")
    code, out, _ = command(VERIFY, folder)
    assert code == 1
    assert "Problem: row-one: the row is gone, and no entry says that it was withdrawn." in out


def test_an_entry_that_is_gone_with_its_row(folder: Path) -> None:
    released = shutil.copy(folder / "board" / ledger.FILE, folder / "released.jsonl")
    lines = (folder / "board" / ledger.FILE).read_text().splitlines(keepends=True)
    (folder / "board" / ledger.FILE).write_text("".join(line for line in lines if "row-one" not in line))
    shutil.rmtree(folder / "board" / "rows" / "row-one")
    assert command(VERIFY, folder)[0] == 0
    code, out, _ = command([*VERIFY, "--since", released], folder)
    assert code == 1
    assert "Problem: ledger.jsonl:1: the entry of row-one" in out


def test_figures_edited_on_the_board(folder: Path) -> None:
    row = folder / "board" / "rows" / "row-one"
    content = json.loads((row / "row.json").read_text())
    content["runs"][0]["test"]["f1"] = 0.99
    (row / "row.json").write_text(json.dumps(content))
    seal(row)
    before = events(folder)
    code, out, _ = command([*VERIFY, "--record", "the board"], folder)
    assert code == 1
    assert "Problem: row-one: its files are not those of its last entry." in out
    assert "Problem: row-one: was recomputed when it was verified, and is only claimed now." in out
    assert events(folder) == before


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["submit", "board", "one", "--as", "row-one", "--by", "me"], "is on the board already"),
        (["submit", "board", "one", "--as", "../out", "--by", "me"], "must be letters, digits"),
        (["submit", "board", "runs", "--as", "new", "--by", "me"], "runs"),
        (["submit", "nowhere", "one", "--as", "new", "--by", "me"], "is no board, as it has no ledger.jsonl"),
        (["verify", "board", "--suite", "demo", "--rerun", "one"], "--beside and --rerun are for a single row"),
        (
            ["verify", "one", "--suite", "demo", "--record", "me"],
            "--since, --submitted, --reproduced and --record are for a board",
        ),
    ],
)
def test_bad_input_changes_nothing(words: list[str], told: str, folder: Path) -> None:
    before = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    code, out, err = command(["leaderboard", *words], folder)
    assert (code, out) == (2, "")
    assert told in err
    assert sorted(path.relative_to(folder) for path in folder.rglob("*")) == before
