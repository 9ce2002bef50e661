"""Copies of runs, and honest runs that are alike. The oracle is how the answers were drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blurb.extensions.board import plausibility
from blurb.extensions.board.consistency import SignalKind
from blurb.extensions.board.plausibility import Beside, RunAnswers, alike
from blurb.row_files.reading import RowFiles, read_row_files
from tests.conftest import ROOT

GOLD = np.random.default_rng(0).integers(0, 2, 600)


def answers(given: Sequence[Any], gold: Sequence[Any] | None = None) -> RunAnswers:
    texts = [plausibility.plain(each) for each in given]
    most = max(texts, key=texts.count)
    right = [gold is not None and each == gold[place] for place, each in enumerate(given)]
    return RunAnswers(
        np.arange(len(texts)),
        np.array(list(map(hash, texts))),
        np.array([text == most for text in texts]),
        np.array(right),
        all(isinstance(each, float) for each in given),
    )


def flipped(given: Sequence[int], part: float, seed: int) -> list[int]:
    random = np.random.default_rng(seed)
    return [int(1 - each if random.random() < part else each) for each in given]


def test_copies_are_told_with_their_share() -> None:
    gold = GOLD.tolist()
    run = flipped(gold, 0.2, seed=1)
    assert alike(answers(run, gold), answers(run, gold)) == 1.0
    near = [1 - each if place in (3, 70, 400) else each for place, each in enumerate(run)]
    assert alike(answers(run, gold), answers(near, gold)) == pytest.approx(597 / 600)
    assert alike(answers(run), answers(near)) == pytest.approx(597 / 600)
    assert alike(answers(run, gold), answers(flipped(run, 0.05, seed=2), gold)) == 0.0
    assert alike(answers(run[:90], gold[:90]), answers(run[:90], gold[:90])) == 0.0  # too few
    assert (
        alike(answers([0.5, 1.25, 3.0]), answers([0.5, 1.25, 3.0])) == 1.0
    )  # but numbers are never alike by chance


def test_honest_runs_that_are_alike_are_not_told() -> None:
    gold = GOLD.tolist()
    excellent = [flipped(gold, 0.003, seed) for seed in (1, 2)]
    assert alike(*(answers(run, gold) for run in excellent)) == 0.0
    collapsed = [[0] * 600, [0] * 600]
    assert alike(*map(answers, collapsed)) == 0.0
    nearly = [[int(place in places) for place in range(600)] for places in ({1, 9, 30}, {1, 9, 77})]
    assert alike(*map(answers, nearly)) == 0.0
    sentences = [["O"] * length for length in range(1, 301)]
    assert alike(answers(sentences), answers(sentences)) == 0.0
    assert alike(answers([2.5, 2.5]), answers([2.5, 2.5])) == 0.0  # one number for all


def test_a_part_of_the_examples_is_compared_as_well() -> None:
    run = answers(flipped(GOLD.tolist(), 0.2, seed=1))
    part = run.at(np.arange(0, 600, 3))
    assert (alike(run, part), alike(part, run)) == (1.0, 1.0)


QUICK = ROOT / "docs" / "results" / "minilm" / "quick" / "row"


def test_seeds_of_a_real_row_are_no_copies_of_each_other() -> None:
    row = read_row_files(QUICK)
    for task in row.predictions:
        assert (
            plausibility.equal_seed_pairs(
                row, [run for run in row.about["runs"] if run["task"] == task], None
            )
            == []
        )


def with_answers(row: RowFiles, share: float, **about: Any) -> RowFiles:
    """The row with some answers of GAD changed."""
    random, table = np.random.default_rng(5), row.predictions["gad"]
    changed = [
        str(1 - int(each)) if random.random() < share else each for each in table["prediction"]
    ]
    return RowFiles(
        Path("copy"),
        {**row.about, **about},  # type: ignore[typeddict-item]
        {**row.predictions, "gad": {**table, "prediction": changed}},
    )


def test_a_copy_under_other_weights_is_told_beside_its_original() -> None:
    row = read_row_files(QUICK)
    copy = with_answers(row, 0.004, weights="0" * 64, model="mine")
    told = {
        signal.where: str(signal)
        for signal in Beside(copy, [row]).signals()
        if signal.kind is SignalKind.COPIED
    }
    assert set(told) == set(row.predictions)
    assert "% of the predictions the same as all-MiniLM-L6-v2" in told["gad"]
    assert "the same predictions as all-MiniLM-L6-v2" in told["ddi"]
    assert Beside(with_answers(row, 0.5), []).signals() == []


def test_a_deterministic_kind_run_again_is_no_copy() -> None:
    """Two parties who probe one checkpoint have one answer; whoever claims it for other weights does not."""
    row = read_row_files(QUICK)
    probe = replace(row, about={**row.about, "learner": "probe"})  # type: ignore[typeddict-item]
    again = replace(probe, about={**probe.about, "measured_by": "another", "precision": "fp32"})  # type: ignore[typeddict-item]
    assert Beside(probe, [again]).signals() == []
    stolen = replace(probe, about={**probe.about, "weights": "0" * 64})  # type: ignore[typeddict-item]
    assert {signal.kind for signal in Beside(stolen, [probe]).signals()} == {SignalKind.COPIED}
