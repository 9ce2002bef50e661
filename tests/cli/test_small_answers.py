"""Small things that people type or see once, each with the answer that it should have."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import blurb
from blurb.messages.errors import BlurbError, Notice, notify


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
