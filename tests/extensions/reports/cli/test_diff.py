"""`blurb diff`: what it prints and writes from the golden stores, text only where it is asked for, and bad input."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from blurb.cli import cli
from blurb.extensions.reports import errors
from tests.cli.in_process import ran

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
    monkeypatch.setattr(errors, "sys", SimpleNamespace(stdout=SimpleNamespace(isatty=lambda: True)))
    assert WORD[name] in run(*common, *DATA)


@pytest.mark.costly
def test_a_trial_that_is_run_again_gives_the_same_answers(here: Path) -> None:
    """As docs/long-runs.md says to check one; a network, as nothing else here depends on its seed."""
    model = "baseline:bilstm,hidden=8,width=8"
    asked = (
        "run",
        model,
        "--suite",
        "demo",
        "--protocol",
        "smoke",
        "--tasks",
        "gad",
        "--seeds",
        "1",
    )
    for more in ((), ("--output", "again", "--leaderboard", "again/leaderboard.csv")):
        ran([*asked, *more])
    before, now = (
        next(Path(store).glob("*/gad/*/predictions.parquet")) for store in ("runs", "again")
    )
    assert before.read_bytes() == now.read_bytes()
    found = CliRunner().invoke(cli, ["diff", model, f"again:{model}", "--task", "gad"])
    assert "No differences: A and B give the same answers." in found.output
