"""`blurb worker`: joins what others began, and says what it did."""

import shlex
import shutil
from pathlib import Path

import pytest

from blurb.execution import sweeps
from tests.cli.in_process import ran, run
from tests.conftest import Builder

pytestmark = pytest.mark.extensions  # a sweep that nobody runs is planned by an engine of clusters

FAILING = """
from blurb.heads import Head

class Fails(Head):
    def loss(self, *given):
        raise RuntimeError("the head is broken")

    def predict(self, *given):
        raise RuntimeError("the head is broken")
"""


@pytest.fixture
def begun(here: Path) -> Path:
    """A store with a sweep that nobody has run: two trials a task of two models."""
    asked = shlex.split(
        "baseline:majority baseline:constant --suite demo --tasks gad,biosses --precision fp32"
    )
    assert run("run", *asked, "--engine", "slurm,trials=2", "--print").exit_code == 0
    return here / "runs"


def test_a_worker_does_what_is_left_and_the_sweep_ends(begun: Path) -> None:
    done = ran(["worker", "--leaderboard", "leaderboard.csv"])
    assert done.output.endswith("4 trials done here, 0 failed, 0 done before.\n")
    assert len(list(begun.glob("*/*/*/DONE.json"))) == 4
    assert len(Path("leaderboard.csv").read_text().splitlines()) == 3
    assert sweeps.folders(begun) == []
    assert "has no sweep to join" in str(run("worker").exception)


def test_a_part_and_then_the_others(begun: Path) -> None:
    (folder,) = sweeps.folders(begun)
    assert "2 trials done here" in run("worker", "--sweep", str(folder), "--part", "1").output
    assert "2 trials done here, 0 failed, 2 done before." in run("worker", "--jobs", "1").output
    late = ran(["worker", "--sweep", str(folder), "--part", "0"])
    assert "0 trials done here" in late.output
    assert "no part" not in late.output


@pytest.mark.costly
def test_places_of_this_machine(begun: Path, tmp_path: Path) -> None:
    """The data lies elsewhere; and other data is refused, as it would be another trial."""
    (folder,) = sweeps.folders(begun)
    moved = shutil.copytree(sweeps.read(folder)[0].data.folder, tmp_path / "moved")
    changed = next((moved / "GAD").glob("train*"))
    changed.write_text(changed.read_text().replace("1\n", "0\n", 1))
    found = run("worker", "--data", str(moved), "--device", "cpu")
    assert found.exit_code == 1
    assert "2 trials done here, 2 failed" in found.output
    assert found.output.count("the data has changed since the trials were planned") == 2
    assert "2 trials that failed before: blurb retry." in run("worker").output
    assert "2 trials done, 0 failed again." in run("retry").output


def test_after_some_failures_a_machine_is_left(tmp_path: Path, begun: Path) -> None:
    (folder,) = sweeps.folders(begun)
    empty = tmp_path / "empty"
    empty.mkdir()
    found = run("worker", "--data", str(empty), "--max-failures", "2")
    assert found.exit_code != 0
    assert "2 trials failed, the last one because: " in str(found.exception)
    assert sweeps.folders(begun) == [folder]


def test_a_machine_without_the_device_runs_nothing(here: Path, checkpoint: Builder) -> None:
    asked = (
        "--suite",
        "demo",
        "--protocol",
        "smoke",
        "--tasks",
        "gad",
        "--precision",
        "fp32",
        "--engine",
        "slurm",
    )
    assert run("run", str(checkpoint("bert_cased")), *asked, "--print").exit_code == 0
    found = run("worker", "--device", "cuda:7")
    assert "Nothing was run: --device cuda:7 is not available" in str(found.exception)
    assert list((here / "runs").rglob("*.failed.json")) == []


def test_a_part_needs_its_sweep(begun: Path) -> None:
    assert "add --sweep" in str(run("worker", "--part", "0").exception)


def test_what_failed_is_left_for_the_next(checkpoint: Builder, here: Path) -> None:
    Path("fails.py").write_text(FAILING)
    asked = [
        str(checkpoint("bert_uncased")),
        "--suite",
        "demo",
        "--tasks",
        "gad",
        "--protocol",
        "smoke",
    ]
    found = run(
        "run", *asked, "--head", "./fails.py:Fails", "--device", "cpu", "--precision", "fp32"
    )
    assert found.exit_code == 1
    assert len(sweeps.folders(here / "runs")) == 1
    again = run("worker")
    assert again.exit_code == 1
    assert "1 trial that failed before: blurb retry." in again.output
    again = run("retry")
    assert again.exit_code == 1
    assert "the head is broken" in again.output
    assert "0 trials done, 1 failed again." in again.output
