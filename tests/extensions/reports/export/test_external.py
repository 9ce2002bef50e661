"""Of predictions from elsewhere nobody knows weights, precision, device or seed, and no export claims them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import blurb
from blurb import tasks
from blurb.corpora import demo
from blurb.data.loading import read_split
from blurb.row_files.references import row_of
from tests.cli.in_process import done
from tests.scoring.test_forms import answers

CLAIMS = re.compile(
    r"fp32|bf16|fp16|cpu|cuda|seed|python|precision|device|blurb run", re.IGNORECASE
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("external")
    for name in ("gad", "ncbi-disease"):
        given = answers(name, read_split(tasks.get(name), demo.prepare(), "test"))
        blurb.score(name, given, demo.prepare(), add="my-tagger", output=folder / "runs")
    return folder


@pytest.mark.parametrize(
    "form", ["markdown", "latex", "model-index", "eval-results", "every-eval-ever", "bibtex"]
)
def test_no_export_claims_what_nobody_knows(form: str, store: Path) -> None:
    more = ["--measured-by", "us"] if form == "every-eval-ever" else []
    out = done(["export", form, "my-tagger", *more], store)
    out += "".join(
        path.read_text() for path in (store / ".eval_results").rglob("*") if path.is_file()
    )
    assert re.findall(CLAIMS, out) == []
    assert row_of("my-tagger", output=store / "runs").weights not in out


def test_the_files_of_a_row_tell_its_runs_apart_and_nothing_more(store: Path) -> None:
    """The number of a run is `seed` in row.json, which has no other name for it."""
    done(["export", "row", "my-tagger", "--out", "row"], store)
    about = json.loads((store / "row" / "row.json").read_text())
    assert about["precision"] == ""
    done(["leaderboard", "verify", "row", "--data", str(demo.prepare()), "--format", "json"], store)


def test_what_is_stored_claims_nothing(store: Path) -> None:
    for path in (store / "runs").rglob("*.json"):
        assert re.search("fp32|python|device", path.read_text()) is None, path
    (row,) = blurb.load_results(store / "runs").rows
    assert row.configuration.precision == ""


def test_the_page_gives_no_command_that_would_repeat_it(store: Path) -> None:
    done(["leaderboard", "html", "--out", "page.html"], store)
    page = (store / "page.html").read_text()
    assert "blurb run MODEL" not in page
    assert "--precision" not in page
