"""Whole trials in recorded steps: at the same padding every prediction is that of the loop, to the bit."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from unittest.mock import patch

import pytest

import blurb
from benchmarks.device.commands import trials
from benchmarks.device.recorded_trainer import RecordedTrainer
from blurb.learners.finetuning import network
from blurb.training.loop import Trainer
from tests.conftest import Builder

FEW = {"max_train": 40, "max_eval": 12, "epochs": 2, "batch_size": 16, "lr": 1e-3}
"""Six batches, so each has its own length and none is padded further."""


def predictions(
    folder: Path, model: str, task: str, trainer: type[Trainer], **settings: object
) -> list[object]:
    RecordedTrainer.counts.clear()
    with patch.object(network, "Trainer", trainer):
        blurb.run(
            model, suite="demo", tasks=[task], seeds=1, protocol="quick", device="cpu",
            output=folder, leaderboard=folder / "leaderboard.csv", progress=False,
            **{**FEW, **settings},  # type: ignore[arg-type]
        )  # fmt: skip
    (record,) = trials(folder)
    return [record.predictions(split) for split in ("dev", "test")]


@pytest.mark.parametrize("task", ["ncbi-disease", "gad", "biosses", "pubmedqa"])
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_trial_in_recorded_steps_is_that_of_the_loop(
    checkpoint: Builder, tmp_path: Path, task: str, precision: str
) -> None:
    model = str(checkpoint("bert_uncased"))
    # With dropout: the same numbers are drawn.
    settings = {"precision": precision, "encoder_dropout": 0.1, "head_dropout": 0.1}
    plain = predictions(tmp_path / "loop", model, task, Trainer, **settings)
    recorded = predictions(tmp_path / "recorded", model, task, RecordedTrainer, **settings)
    assert plain == recorded
    assert RecordedTrainer.counts == Counter({"eager": 4, "other shape": 2})  # 16, 16 and 8 inputs


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("bert_uncased", {"head": "crf"}),
        ("mpnet", {}),  # attention of its own
    ],
)
def test_what_is_not_understood_trains_as_before(
    checkpoint: Builder, tmp_path: Path, kind: str, settings: dict[str, str]
) -> None:
    model = str(checkpoint(kind))
    plain = predictions(tmp_path / "loop", model, "ncbi-disease", Trainer, **settings)
    other = predictions(tmp_path / "other", model, "ncbi-disease", RecordedTrainer, **settings)
    assert plain == other
    assert RecordedTrainer.counts == Counter({"as before": 6})
