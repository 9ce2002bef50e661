"""Rows that were scored on a part of the units: shown, with their note, and never the best of anything."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from blurb.cli import cli
from blurb.leaderboard import ranking
from blurb.results import comparison, from_store
from blurb.results.tables import rebuild
from blurb.row_files.references import file_rows
from blurb.store.store import Store
from tests.cli.in_process import ran
from tests.results.played import CONFIGURATION, play

CAPPED = {"head": "linear", "pooling": "cls", "max_train": 64, "max_eval": 64}
NOTE = "at most 64 training examples; at most 64 dev and test examples"


@pytest.fixture
def folder(here: Path) -> Path:
    """A row of 64 units that is better than any, and a whole one."""
    store = Store(here / "runs")
    play(
        store,
        "tiny",
        {"gad": 1.0},
        configuration=replace(CONFIGURATION, protocol="smoke"),
        settings=CAPPED,
    )
    play(store, "whole", {"gad": 0.5}, configuration=replace(CONFIGURATION, protocol="standard"))
    rebuild(store, here / "leaderboard.csv")
    return here


def test_it_is_never_ranked(folder: Path) -> None:
    entries = [
        ranking.entry(each, resampled=False) for each in from_store.read(Store(folder / "runs"))
    ]
    ranks = {one.entry.name.split()[0]: one.rank for one in ranking.in_parts(entries, "gad")}
    assert ranks == {"whole": "1", "tiny": ""}
    result = CliRunner().invoke(cli, ["leaderboard", "show", "--no-intervals", "--sort", "gad"])
    assert f"tiny smoke: not ranked: rows of smoke have no rank; {NOTE}." in result.output


@pytest.mark.extensions
@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_it_is_never_bold_and_says_why(form: str, folder: Path) -> None:
    result = CliRunner().invoke(
        cli, ["export", form, "--published", "gu2021"], catch_exceptions=False
    )
    assert "100.00" in result.output or "99." in result.output
    for bold in ("**100.00**", "**99.", r"\textbf{100.00}", r"\textbf{99."):
        assert bold not in result.output
    assert NOTE in result.output


@pytest.mark.extensions
@pytest.mark.parametrize("form", ["model-index", "eval-results"])
def test_a_card_carries_the_note(form: str, folder: Path) -> None:
    out = folder / "out"
    ran(["export", form, "tiny", "--out", str(out)])
    text = " ".join((out if out.is_file() else out / "blurb.yaml").read_text().split())
    assert NOTE in text


def test_it_is_compared_with_no_whole_row(folder: Path) -> None:
    sides = {each.model: each for each in from_store.read(Store(folder / "runs"))}
    files = {each.model: each for each in file_rows(folder / "results.csv")}
    for tiny, whole in ((sides["tiny"], sides["whole"]), (files["tiny"], sides["whole"])):
        line = next(
            one
            for one in comparison.compare_rows(whole, tiny, "test", with_units=False)
            if one.name == "gad"
        )
        assert (
            line.reason == "different examples were scored: all in one row, at most 64 in the other"
        )
    result = CliRunner().invoke(
        cli, ["check", "tiny", "--baseline", "whole", "--split", "test", "--format", "json"]
    )
    assert result.exit_code == 2
    assert "different examples" in json.dumps(json.loads(result.stdout))
