"""The rows of checkpoints in a store: of the weights, the suite, the precision and the seeds that were asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from blurb.extensions.series.api import checkpoint_rows
from blurb.extensions.series.api.checkpoint_rows import Scoring
from blurb.extensions.series.curves import Step
from blurb.results import from_store
from blurb.results.row import Row
from blurb.store.trial import Configuration
from tests.extensions.series.test_series import made_row
from tests.results import invented

STEP = Step("a", 1, ".")
Read = Callable[..., tuple[Row | None, Scoring]]


def _row(
    values: list[float], weights: str = "now", suite: str = "blurb", precision: str = "fp32"
) -> Row:
    configuration = Configuration("sketch", "0" * 64, {}, precision, suite, "")
    return invented.named(
        made_row("a@1", {"gad": values}), weights=weights, configuration=configuration
    )


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Read:
    monkeypatch.setattr(
        checkpoint_rows, "Checkpoint", lambda folder: SimpleNamespace(weights_hash="now")
    )

    def rows(there: list[Row], **trials: Any) -> tuple[Row | None, Scoring]:
        monkeypatch.setattr(from_store, "read", lambda store: there)
        scoring = Scoring(["gad"], "sketch", "dev", tmp_path, trials)
        return scoring.read([STEP], "sketch").get("a@1"), scoring

    return rows


def test_a_row_of_other_weights_is_told_and_not_shown(read: Read) -> None:
    row, scoring = read([_row([60.0], weights="before")])
    assert row is None
    assert scoring.told == [
        "a@1: the store has the scores of other weights; without --read it is scored."
    ]


def test_rows_are_of_the_suite_and_precision_that_were_asked_for(read: Read) -> None:
    there = [_row([60.0]), _row([70.0], suite="demo"), _row([80.0], precision="bf16")]
    for trials, value in (
        ({"suite": "demo"}, 70),
        ({"precision": "bf16"}, 80),
        ({"precision": "fp32"}, 60),
    ):
        row, scoring = read(there, **trials)
        assert row.means("dev")["gad"] == pytest.approx(value)
        assert not scoring.notes
    _, scoring = read(there)
    (note,) = scoring.notes
    assert note.startswith(
        "The store has rows by sketch fp32, sketch bf16; each checkpoint shows its first"
    )


def test_seeds_of_a_search_are_no_part_of_a_series(read: Read) -> None:
    """`blurb bisect` leaves more fine-tunings of some checkpoints, whose mean would be drawn beside single runs."""
    row, _ = read([_row([60.0, 10.0, 0.0])])
    assert row.values("gad", "dev") == [60.0]  # sketch has one seed
    row, _ = read([_row([60.0, 10.0, 0.0])], seeds=2)
    assert row.values("gad", "dev") == pytest.approx([60.0, 10.0])


def test_a_checkpoint_that_is_none_does_not_end_a_watch(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from blurb.messages.errors import ErrorGroup, ModelError, SettingsError

    scoring = Scoring(["gad"], "sketch", "dev", tmp_path, {})
    errors: list[Exception] = [
        ModelError("no tokenizer."),
        ErrorGroup([ModelError("a."), ModelError("b.")]),
    ]

    def score(self: Scoring, steps: object, protocol: str) -> SimpleNamespace:
        raise errors.pop(0)

    monkeypatch.setattr(Scoring, "score", score)
    assert scoring.of_step(STEP) is None
    assert scoring.of_step(STEP) is None
    assert len(scoring.told) == 2
    errors.append(SettingsError("no data."))
    with pytest.raises(SettingsError):
        scoring.of_step(STEP)


@pytest.mark.parametrize(
    ("trials", "there"),
    [
        ({}, True),
        ({"seeds": 2}, False),
        ({"lr": 0.01}, False),
        ({"seeds": "auto"}, False),
        ({"device": "cpu"}, True),
    ],
)
def test_only_what_this_call_would_score_is_there_already(
    read: Read, trials: dict[str, Any], there: bool
) -> None:
    """`--budget` takes the rest for unscored, and what is done costs no time."""
    from blurb.training import hardware, precision as precisions

    own = precisions.choose_precision("auto", hardware.choose_device("cpu"))
    _, scoring = read([_row([60.0], precision=own)], **trials)
    assert bool(scoring.stored([STEP])) is there
