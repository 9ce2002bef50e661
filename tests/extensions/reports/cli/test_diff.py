"""`blurb diff`: what it prints and writes from the golden stores, text only where it is asked for, and bad input."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from blurb.cli import cli
from blurb.extensions.reports.cli import _texts

GOLDEN = Path(__file__).parents[3] / "golden"
MINE = "golden-encoder standard batch_size=16 epochs=40 lr=0.01"
DATA = ("--data", str(GOLDEN / "data"))
WORD = {"ebm-pico": "walking", "chemprot": "outpatients", "hoc": "apoptosis", "biosses": "BUMBROL2"}
"""A word of each dataset's text."""


def run(*arguments: str, rows: tuple[str, str] = (MINE, "baseline:majority")) -> str:
    result = CliRunner().invoke(cli, ["diff", *rows, "--output", str(GOLDEN / "store"), *arguments])
    return result.output + str(result.exception or "")


@pytest.mark.parametrize("name", WORD)
def test_text_only_where_it_is_asked_for(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    common = ("--task", name, "--limit", "100")
    assert WORD[name] not in run(*common)
    piped = run(*common, *DATA)
    assert WORD[name] not in piped
    assert "The text is left out" in piped
    assert WORD[name] in run(*common, *DATA, "--with-text")
    assert "reads the text from the data; add --data" in run(*common, "--with-text")
    for form in ("csv", "json"):
        assert WORD[name] not in run(*common, *DATA, "--format", form)
        assert WORD[name] in run(*common, *DATA, "--format", form, "--with-text")
    monkeypatch.setattr(_texts, "sys", SimpleNamespace(stdout=SimpleNamespace(isatty=lambda: True)))
    assert WORD[name] in run(*common, *DATA)


def test_entities_are_marked() -> None:
    output = run("--task", "ebm-pico", *DATA, "--with-text")
    assert "A     PAR 7-10  ... the ward , we compared a [walking programme with] usual kidney care ." in output


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
