"""Small things that people type or see once, each with the answer that it should have."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from click.testing import CliRunner

import blurb
from blurb.cli import cli
from blurb.messages.errors import BlurbError, Notice, notify

ANSWERS = [
    (["run", "scratch:tiny", "--data", "doc.tsv", "--tasks", "gad"], "doc.tsv: is a file; give its folder."),
    (["check", "a", "--baseline", "b", "--max-drop", "5%"], "it must be a number, at least 0 points (got '5%')."),
    (
        ["run", "scratch:tiny", "--suite", "demo", "--jobs", "many"],
        "it must be a whole number, at least 1 and at most 4,096 (got 'many').",
    ),
    (["doctor", "row"], "row: is a row as files; check it with blurb leaderboard verify."),
    (["heads", "show", "crf"], "\nconstrained: whether training enforces it, too"),
]


@pytest.mark.parametrize(("typed", "answer"), ANSWERS)
def test_an_answer(typed: list[str], answer: str, here: Path) -> None:
    Path("doc.tsv").touch()
    Path("row").mkdir()
    Path("row/row.json").write_text("{}")
    done = CliRunner().invoke(cli, typed, prog_name="blurb")
    assert answer in (str(done.exception) if isinstance(done.exception, BlurbError) else done.output)


@pytest.mark.extensions
def test_a_text_that_is_missing_is_named_once() -> None:
    with pytest.raises(BlurbError) as caught:
        blurb.pretrain("out", "nosuch.txt")
    assert str(caught.value).count("nosuch.txt") == 1


@pytest.mark.extensions
@pytest.mark.parametrize("text", ["60k", "60K", "0.06m", "0.06M"])
def test_letters_of_numbers_of_words_have_no_case(text: str) -> None:
    from blurb.extensions.lab.pretraining import request

    assert request.words(text) == 60_000


def test_scores_show_themselves_in_a_line(here: Path) -> None:
    gold = blurb.load_dataset("gad", suite="demo")["test"]
    scores = blurb.score("gad", {row["id"]: "1" for row in gold}, suite="demo")
    assert repr(scores) == f"<Scores: gad {scores['gad'].score:.2f}>"


def test_a_notice_shows_no_line_of_code() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        notify("Something is left out.")
    (warning,) = caught
    shown = warnings.formatwarning(warning.message, Notice, warning.filename, warning.lineno)
    assert shown == "blurb:0: Notice: Something is left out.\n"
