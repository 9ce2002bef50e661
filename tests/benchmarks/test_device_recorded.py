"""Whole trials in recorded steps: at the same padding every prediction is that of the loop, to the bit."""

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest
import torch

import blurb
from benchmarks.device import measure_recorded
from benchmarks.device.cells import Context
from benchmarks.device.commands import trials
from benchmarks.device.recorded_trainer import RecordedTrainer
from blurb.execution.environment import gpus_for
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
    assert plain == predictions(tmp_path / "recorded", model, task, RecordedTrainer, **settings)
    assert RecordedTrainer.counts == Counter({"eager": 4, "other shape": 2})  # 16, 16 and 8 inputs


def test_the_part_measures_recorded_steps_in_this_process(
    tmp_path: Path, checkpoint: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a card, too: a GPU that is named is no lane of workers, to which no patch reaches."""
    context = Context(tmp_path, small=True, mps=False, deadline=0)
    monkeypatch.setattr(Context, "model", lambda *_: checkpoint("bert_uncased"))
    found = measure_recorded.measure(context, "gad", 2)
    assert found["counts"]["eager"] >= 2
    assert found["loop"][1]["test"] == found["recorded"][1]["test"]
    assert [len(row) for row in measure_recorded.rows({"gad": found})] == [8, 8]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(Context, "precisions", ("fp32",))
    devices = []
    monkeypatch.setattr(
        blurb, "run", lambda *_, **options: devices.append(options["device"]) or 1 / 0
    )
    with pytest.raises(ZeroDivisionError):
        measure_recorded.train(context, "gad", 1)
    (job,) = (SimpleNamespace(device=device, place="here") for device in devices)
    assert gpus_for([job]) == []


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
