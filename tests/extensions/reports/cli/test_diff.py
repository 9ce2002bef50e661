"""`blurb diff`: what it prints and writes from the golden stores, text only where it is asked for, and bad input."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from blurb.cli import cli
from blurb.extensions.reports.cli import _texts
from blurb.extensions.reports.differences import Difference, Differences, Side
from blurb.extensions.reports.differences.texts import Piece
from blurb.extensions.reports.errors import Mistake, Report, Table
from blurb.extensions.reports.html.examples import DifferencesPage, MistakesPage, render

GOLDEN = Path(__file__).parents[3] / "golden"
MINE = "golden-encoder standard batch_size=16 epochs=40 lr=0.01"
DATA = ("--data", str(GOLDEN / "data"))
WORD = {"ebm-pico": "walking", "chemprot": "outpatients", "hoc": "apoptosis", "biosses": "BUMBROL2"}
"""A word of each dataset's text."""


def run(*arguments: str, rows: tuple[str, str] = (MINE, "baseline:majority")) -> str:
    result = CliRunner().invoke(cli, ["diff", *rows, "--output", str(GOLDEN / "store"), *arguments])
    return result.output + str(result.exception or "")


@pytest.mark.parametrize("name", WORD)
def test_text_only_where_it_is_asked_for(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    common, page = ("--task", name, "--limit", "100"), tmp_path / "page.html"
    assert WORD[name] not in run(*common, "--html", str(page))
    assert WORD[name] not in page.read_text(encoding="utf-8")
    assert "Ids and labels only" in page.read_text(encoding="utf-8")
    piped = run(*common, *DATA)
    assert WORD[name] not in piped
    assert "The text is left out" in piped
    assert WORD[name] in run(*common, *DATA, "--with-text")
    assert "reads the text from the data; add --data" in run(*common, "--with-text")
    written = run(*common, *DATA, "--html", str(page))
    assert WORD[name] not in written
    assert "it has corpus text: for your own use" in written
    text = page.read_text(encoding="utf-8")
    assert WORD[name] in text
    assert text.index("This page has text of the corpus") < text.index(WORD[name])
    for form in ("csv", "json"):
        assert WORD[name] not in run(*common, *DATA, "--format", form)
        assert WORD[name] in run(*common, *DATA, "--format", form, "--with-text")
    monkeypatch.setattr(_texts, "sys", SimpleNamespace(stdout=SimpleNamespace(isatty=lambda: True)))
    assert WORD[name] in run(*common, *DATA)


def test_entities_are_marked(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    output = run("--task", "ebm-pico", *DATA, "--with-text", "--html", str(page))
    assert "A     PAR 7-10  ... the ward , we compared a [walking programme with] usual kidney care ." in output
    text = page.read_text(encoding="utf-8")
    assert "<mark>walking programme with</mark>" in text
    assert "in the ward , we compared a <mark>" in text  # the page has the whole sentence
    assert "http" not in re.sub(r"http-equiv", "", text)
    assert text.count("<script") == 1  # of the filters, which its policy allows by its hash
    assert re.search(r"script-src 'sha256-[^']+'", text)


def test_csv_and_json_say_the_same_and_have_numbers() -> None:
    arguments = ("--task", "biosses", "--format")
    of_csv = list(csv.DictReader(run(*arguments, "csv").splitlines()))
    of_json = json.loads(run(*arguments, "json"))
    numbers = ("gold", "prediction_a", "prediction_b", "size")
    assert list(of_json[0]) == list(of_csv[0]) == ["id", "outcome", "kind_a", "kind_b", *numbers]
    for of_one, line in zip(of_json, of_csv, strict=True):
        assert all(isinstance(of_one[name], float) for name in numbers)
        assert {key: f"{value:.6g}" if key in numbers else value for key, value in of_one.items()} == line
        assert of_one["size"] == pytest.approx(abs(of_one["prediction_a"] - of_one["prediction_b"]))
    assert len(json.loads(run(*arguments, "json", "--limit", "2"))) == 2


def test_one_kind() -> None:
    rows = json.loads(run("--task", "ebm-pico", "--kind", "spurious", "--format", "json"))
    assert len(rows) == 7
    assert {row["kind_a"] for row in rows} == {"spurious"}
    assert len(json.loads(run("--task", "ebm-pico", "--kind", "both wrong", "--format", "json"))) == 5
    assert "Did you mean 'spurious'" in run("--task", "ebm-pico", "--kind", "spuriuos")


def test_no_difference_and_no_examples_shown() -> None:
    assert "No differences: A and B give the same answers." in run("--task", "pubmedqa")
    assert "8 differences.\n" in run("--task", "chemprot", "--limit", "0")


def test_seeds() -> None:
    output = run("--task", "gad")
    assert output.count("seed 1, ") == 2
    assert "has no finished run of gad with seed 9; finished seeds: " in run("--task", "gad", "--seed", "9")


def test_bad_input() -> None:
    assert "Choose a dataset: --task" in run()
    assert "There is no dataset of" in run("--task", "gat")
    assert "same trial (gad, seed 1)" in run("--task", "gad", rows=(MINE, MINE))
    assert "has no predictions; name a row of a store" in run(
        "--task", "gad", rows=(MINE, "published:PubMedBERT (gu2021)")
    )
    assert "There is no row" in run("--task", "gad", rows=(MINE, "baseline:majorty"))


def test_the_page_escapes_everything() -> None:
    nasty = "<script>alert('&')</script>"
    one = Difference(
        nasty,
        "only A right",
        nasty,
        Side("right", nasty),
        Side(nasty, nasty),
        1,
        {"text": (Piece(nasty), Piece(nasty, True)), "B": (Piece(nasty, True),)},
    )
    found = Differences([Table(nasty, (nasty, nasty), [(nasty, 1)])], [one])
    page = render(DifferencesPage(nasty, (nasty, nasty), found, [one]))
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;") > 10
    assert page.count("<mark>&lt;script&gt;") == 2
    other = Mistake(nasty, nasty, nasty, nasty, nasty)
    page = render(MistakesPage(nasty, nasty, Report([Table(nasty, (nasty,), [(nasty,)])], [other]), [other]))
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;") > 10


def test_examples_are_chosen_by_kind_gold_and_answer() -> None:
    one = Difference("test.1", "only A right", "Chemical 3-5", Side("right", "Chemical 3-5"), Side("missed", ""))
    page = DifferencesPage("d", ("a", "b"), Differences([], [one]), [one])
    assert dict(zip(page.facets, page.facets_of(one), strict=True)) == {
        "Outcome": "only A right", "Mistake of A": "right", "Mistake of B": "missed", "Gold": "Chemical",
        "Answer of A": "Chemical", "Answer of B": "none",
    }  # fmt: skip
    assert 'data-f0="only A right" data-f1="right" data-f2="missed" data-f3="Chemical"' in render(page)
    mistakes = [Mistake("test.1", "label", "CPR:3", "false"), Mistake("test.2", "size", 3.6, 1.0)]
    listed = MistakesPage("d", "row", Report([], mistakes), mistakes[:1])
    assert [listed.facets_of(each) for each in mistakes] == [("label", "CPR:3", "false"), ("size", "4", "1")]
    assert "1 are left out" in render(listed)


@pytest.mark.costly
def test_a_trial_that_is_run_again_gives_the_same_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As docs/long-runs.md says to check one; a network, as nothing else here depends on its seed."""
    monkeypatch.chdir(tmp_path)
    model = "baseline:bilstm,hidden=8,width=8"
    asked = ("run", model, "--suite", "demo", "--protocol", "smoke", "--tasks", "gad", "--seeds", "1")
    for more in ((), ("--output", "again", "--leaderboard", "again/leaderboard.csv")):
        done = CliRunner().invoke(cli, [*asked, *more])
        assert done.exit_code == 0, (done.output, done.exception)
    before, now = (next(Path(store).glob("*/gad/*/predictions.parquet")) for store in ("runs", "again"))
    assert before.read_bytes() == now.read_bytes()
    found = CliRunner().invoke(cli, ["diff", model, f"again:{model}", "--task", "gad"])
    assert "No differences: A and B give the same answers." in found.output
