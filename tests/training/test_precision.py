"""Autocast, clipping and the optimizer's step are torch's own: to the bit what accelerate does, which is not needed."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState

from blurb.inputs.features import Features
from blurb.training.batches import collate_batch
from blurb.training.hardware import Precision, bf16_products
from blurb.training.loop import Trainer
from blurb.training.optimizer import make_adamw
from tests.training import tiny

STEPS, ROWS, CLIP = 20, 8, 0.05
"""The norm of all gradients is above `CLIP`, so that it is clipped."""


def _trainer(precision: Precision) -> Trainer:
    trainer = Trainer(tiny.network("tokens", dropout=0.1), tiny.PAD, torch.device("cpu"), precision)
    trainer.network.train()
    torch.manual_seed(3)  # of dropout
    return trainer


def _ours(inputs: Features, precision: Precision) -> dict[str, torch.Tensor]:
    trainer, targets = _trainer(precision), tiny.targets(inputs)
    optimizer = make_adamw(trainer.network, tiny.settings())
    for _ in range(STEPS):
        trainer._step(inputs, np.arange(ROWS), targets, optimizer, CLIP)
    return tiny.weights(trainer.network)


def _theirs(inputs: Features, precision: Precision) -> dict[str, torch.Tensor]:
    network = _trainer("fp32").network
    AcceleratorState._reset_state(True)
    accelerator = Accelerator(cpu=True, mixed_precision="no" if precision == "fp32" else precision)
    network.encoder = accelerator.prepare_model(network.encoder, device_placement=False)
    optimizer = accelerator.prepare_optimizer(
        make_adamw(network, tiny.settings()), device_placement=False
    )
    batch = collate_batch(inputs, np.arange(ROWS), tiny.PAD, tiny.targets(inputs))
    for _ in range(STEPS):
        with bf16_products(torch.device("cpu"), precision):
            accelerator.backward(network.loss(batch) / batch.word_mask.sum())
        assert accelerator.clip_grad_norm_(network.parameters(), CLIP) > CLIP
        optimizer.step()
        optimizer.zero_grad()
    return tiny.weights(network)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_twenty_steps_are_those_of_accelerate_to_the_bit(precision: Precision) -> None:
    inputs = tiny.features(ROWS, words=True)
    ours, theirs = _ours(inputs, precision), _theirs(inputs, precision)
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    begun = tiny.weights(_trainer(precision).network)
    assert not any(torch.equal(ours[name], begun[name]) for name in ours if "weight" in name)


def test_the_two_precisions_differ() -> None:
    inputs = tiny.features(ROWS, words=True)
    single, half = _ours(inputs, "fp32"), _ours(inputs, "bf16")
    assert not all(torch.equal(single[name], half[name]) for name in single)


WITHOUT = "import sys; sys.modules['accelerate'] = None; from blurb.__main__ import main; main()"
RUN = ["run", "scratch:tiny", "--suite", "demo", "--tasks", "gad"]


@pytest.mark.costly
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_model_is_trained_where_accelerate_cannot_be_imported(
    tmp_path: Path, precision: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *[*RUN, "--protocol", "smoke"], "--precision", precision],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("runs/*/gad/*/DONE.json"))) == 1


def test_a_tracker_needs_it(tmp_path: Path) -> None:
    command = [*RUN, "--track", "tensorboard"]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *command], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "pip install accelerate" in done.stderr
    assert list(tmp_path.iterdir()) == []
