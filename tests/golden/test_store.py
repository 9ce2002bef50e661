"""A store of 53549ab, run again: nothing is trained that need not be, and every row is one row."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from blurb.cli import cli
from blurb.results.leaderboard_csv import read_lines
from blurb.row_files.references import table_rows
from blurb.store import row_trials as rows
from blurb.store.record import Figures
from blurb.store.store import Store
from tests.cli.in_process import ran
from tests.golden import encoder
from tests.golden.schemas import schema

HERE = Path(__file__).parent


@pytest.fixture
def folder(here: Path) -> Path:
    """The golden files as a user has them, in the working folder."""
    for name in ("store", "data"):
        shutil.copytree(HERE / name, here / name)
    for name in ("results.csv", "leaderboard.csv", "external.csv", "worded.toml"):
        shutil.copy(HERE / name, here / name)
    encoder.build(here / "golden-encoder")
    return here


def run(tasks: str, *more: str, model: str = "golden-encoder") -> list[str]:
    """Runs again and gives the line of each trial."""
    arguments = [
        "run",
        f"./{model}" if model == "golden-encoder" else model,
        "--data",
        "data",
        "--raw",
        "data",
        "--output",
        "store",
        "--precision",
        "fp32",
        "--device",
        "cpu",
        "--tasks",
        tasks,
        *more,
    ]
    result = ran(arguments)
    return [line for line in result.stderr.splitlines() if line.startswith("[")]


def test_nothing_is_trained_and_there_is_one_row(folder: Path) -> None:
    done = {path: path.stat().st_mtime_ns for path in folder.glob("store/*/*/*/DONE.json")}
    whole = ("--seeds", "2", "--set", "lr=0.01", "--set", "epochs=40", "--set", "batch_size=16")
    lines = (
        run("all", *whole)
        + run("all", model="baseline:majority")
        + run("gad", "--protocol", "worded.toml")
    )
    assert len(lines) == 26 + 13 + 2
    assert all(line.endswith("already done") for line in lines)
    assert {path: path.stat().st_mtime_ns for path in folder.glob("store/*/*/*/DONE.json")} == done
    names = [row.name for row in table_rows(folder / "leaderboard.csv")]
    assert len(names) == 7  # six of the store, one of external.csv
    (note,) = {
        line["note"]
        for _, line in read_lines(folder / "leaderboard.csv")
        if "worded" in line["protocol"]
    }
    assert note == "other words"  # as the file says it now
    files = list((folder / "store" / "golden-encoder" / "rows").iterdir())
    assert len(files) == 4


def test_what_was_read_is_not_rewritten(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert len(rows.read(Store(folder / "store"))) == 6
    assert (
        CliRunner()
        .invoke(cli, ["leaderboard", "show", "--output", "store", "--no-intervals"])
        .exit_code
        == 0
    )
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_the_figures_of_a_trial_are_as_their_type_says() -> None:
    validator = Draft202012Validator(schema(Figures))
    found = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in (HERE / "store").rglob("metrics.json")
    ]
    assert len(found) > 20
    assert all(validator.is_valid(figures) for figures in found)
    assert not validator.is_valid({**found[0], "more": 1})
    assert not validator.is_valid(
        {key: value for key, value in found[0].items() if key != "majority"}
    )
