"""A stranger's code in the working folder, and a store to alter."""

import shutil
from pathlib import Path

import pytest

from blurb.heads import heads, poolings
from tests.cli.in_process import ran
from tests.strangers.evil import Evil


@pytest.fixture(autouse=True)
def _new_process() -> None:
    """Nothing was typed in this process yet."""
    heads.typed.clear()
    poolings.typed.clear()


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Evil:
    return Evil(tmp_path, monkeypatch)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two rows of two baselines, on two demo datasets."""
    folder = tmp_path_factory.mktemp("made")
    asked = ["baseline:majority", "baseline:constant", "--suite", "demo", "--tasks", "gad,biosses"]
    places = ["--output", str(folder / "runs"), "--leaderboard", str(folder / "leaderboard.csv")]
    ran(["run", *asked, *places])
    return folder


@pytest.fixture
def runs(made: Path, evil: Evil, tmp_path: Path) -> Path:
    """A copy of it in the working folder, with the stranger's code in it."""
    copy = shutil.copytree(made / "runs", tmp_path / "runs")
    evil.lay(copy)
    return copy
