"""What 53549ab finished stays finished: the golden checkpoint and every trial of `hashes.csv` keep their hashes.

`baseline-hashes.csv` has those of the baselines that came later.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from blurb import tasks
from blurb.checkpoints import ModelSource
from blurb.cli import cli
from blurb.learners import building
from blurb.planning import trials
from blurb.protocols.settings import parse_overrides
from blurb.results.leaderboard_csv import read_lines
from blurb.row_files.references import table_rows
from blurb.store import row_trials as rows
from blurb.store.record import Figures
from blurb.store.store import Store
from tests.cli.in_process import ran
from tests.golden import encoder
from tests.golden.schemas import schema
from tests.planning.requests import request
from tests.rewriting import csv_lines

HERE = Path(__file__).parent
WEIGHTS = "8b62bb2d4ecb372995b31c7f6e0d6e869aefa7db3e64e80aa098b650b08f640e"
TOKENIZER = "a5f35f9d18b6fd684e6a34d88e14c5fe241340ed3ee8b683e6abd424687064b7"
RAISED = {"baseline:constant": 1}
"""Learner -> the recipe that it had then: its trials of today differ in nothing else."""
LINES: list[dict[str, str]] = []
for _name in ("hashes.csv", "baseline-hashes.csv"):
    LINES += csv_lines(HERE / _name)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], ModelSource]:
    folder = encoder.build(tmp_path_factory.mktemp("golden") / "golden-encoder")
    known = building.resolve_model(str(folder))
    return lambda learner: known if learner == "encoder" else building.resolve_model(learner)


def test_the_checkpoint_is_the_one_that_was(source: Callable[[str], ModelSource]) -> None:
    found = source("encoder")
    assert (found.weights, found.tokenizer, found.parameters) == (WEIGHTS, TOKENIZER, 15_168)


@pytest.mark.parametrize("learner", sorted({line["learner"] for line in LINES}))
@pytest.mark.parametrize("kind", tasks.TYPES)
def test_every_trial_keeps_its_hash(
    learner: str, kind: str, source: Callable[[str], ModelSource], tmp_path: Path
) -> None:
    lines = [line for line in LINES if (line["learner"], line["type"]) == (learner, kind)]
    assert lines
    for line in lines:
        overrides = parse_overrides(dict(pair.split("=", 1) for pair in line["overrides"].split()))
        given = {"data": HERE / "data", "raw": HERE / "data", "overrides": overrides}
        asked = request(
            tmp_path, source(learner), tasks_="all", protocol_=line["protocol"], **given
        )
        trial = trials.job(asked, source(learner), tasks.get(line["task"]), 1).trial
        assert replace(trial, recipe=RAISED.get(learner, trial.recipe)).hash == line["trial"], line


# A store of 53549ab, run again: nothing is trained that need not be, and every row is one row.


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
    return [line for line in ran(arguments).stderr.splitlines() if line.startswith("[")]


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
    assert len(list((folder / "store" / "golden-encoder" / "rows").iterdir())) == 4


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
