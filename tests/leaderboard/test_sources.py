"""Tables that contradict each other are refused wherever several are read, as `leaderboard merge` refuses them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from blurb.cli import cli
from blurb.leaderboard import ranking
from blurb.messages.errors import DataError
from blurb.results.schema import KEY
from tests.conftest import ROOT
from tests.results.tampered import edited

TABLE = ROOT / "docs" / "results" / "minilm" / "quick" / "results.csv"


@pytest.fixture
def two(here: Path) -> tuple[Path, Path]:
    """The same three seeds of GAD in two files."""
    head, *lines = TABLE.read_text().splitlines()
    kept = [line for line in lines if ",gad," in line and "all-MiniLM" in line and ",test,f1," in line]
    assert len(kept) == 3
    paths = here / "x.csv", here / "y.csv"
    for path in paths:
        path.write_text("\n".join([head, *kept]) + "\n")
    return paths


CHANGES = {
    "value": "57.65",
    "data_hash": "f" * 12,
    "family": "f" * 16,
    "data": "differs",
    "metrics_version": "2",
    "head": "bilstm",
    "max_eval": "64",
    "trial": "f" * 16,
    "majority": "1.0",
}


@pytest.mark.extensions
@pytest.mark.parametrize("column", CHANGES)
@pytest.mark.parametrize("turned", [False, True])
def test_a_contradiction_is_refused_in_either_order(column: str, turned: bool, two: tuple[Path, Path]) -> None:
    for line in (2, 3, 4):
        edited(two[1], line, **{column: CHANGES[column]})
    first, other = reversed(two) if turned else two
    for command in ("show", "html"):
        arguments = ["leaderboard", command, "--results", str(first), "--results", str(other)]
        result = CliRunner().invoke(cli, arguments)
        assert isinstance(result.exception, DataError)
        assert column in str(result.exception)
        assert all(path.name in str(result.exception) for path in two)
        assert not Path("leaderboard.html").exists()
    result = CliRunner().invoke(cli, ["leaderboard", "merge", str(first), str(other), "--out", "both"])
    assert isinstance(result.exception, DataError)


def test_what_agrees_is_one_row(two: tuple[Path, Path]) -> None:
    (row,) = ranking.read_rows(Path("none"), two)
    assert row.means()["gad"] == pytest.approx(77.65, abs=0.005)


def test_what_makes_another_row_is_no_contradiction(two: tuple[Path, Path]) -> None:
    for line in (2, 3, 4):
        edited(two[1], line, precision="fp32", value="50.0")
    assert "precision" in KEY
    assert len(ranking.read_rows(Path("none"), two)) == 2
