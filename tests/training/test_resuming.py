"""A training that goes on from a checkpoint. Oracle: the same training without a stop, bit for bit."""

import json
from collections.abc import Mapping
from typing import Any
from unittest.mock import Mock

import pytest
import torch

from blurb.learners.finetuning import adapters
from blurb.training.hardware import Precision, seed_everything
from blurb.training.loop import Trainer
from blurb.training.resuming import Epoch
from tests.training import tiny

INPUTS = tiny.features(40)  # five steps an epoch
Found = tuple[dict[str, torch.Tensor], list[Epoch], list[float]]


class Memory:
    """Checkpoints in memory, their values as JSON."""

    def __init__(self) -> None:
        self.tensors: dict[str, dict[str, torch.Tensor]] = {}
        self.values = ""
        self.aside = ""

    def read(self) -> tuple[Mapping[str, dict[str, torch.Tensor]], dict[str, Any]] | None:
        return (self.tensors, json.loads(self.values)) if self.values else None

    def write(
        self, tensors: Mapping[str, Mapping[str, torch.Tensor]], values: Mapping[str, Any]
    ) -> None:
        self.tensors = {
            file: {name: value.clone() for name, value in each.items()}
            for file, each in tensors.items()
        }
        self.values = json.dumps(values)

    def set_aside(self, reason: str) -> None:
        self.values, self.aside = "", reason


def fit(
    checkpoints: Memory | None = None,
    stop: int = 0,
    stop_in_dev: int = 0,
    wide: int = 32,
    where: tuple[str, Precision] = ("cpu", "fp32"),
    **settings: Any,
) -> Found:
    """Weights, history, and predictions of a training of four epochs; interrupted after a step, or within dev."""

    def on_step(done: int, total: int) -> None:
        if done == stop:
            raise KeyboardInterrupt

    seed_everything(1)
    network = tiny.network(dropout=0.1, intermediate_size=wide)
    chosen = tiny.settings(**{"epochs": 4, "lr": 1e-2, **settings})
    if chosen.adapter == "lora":
        adapters.inject(network.encoder, chosen)
    device, precision = where
    trainer = Trainer(
        network, tiny.PAD, torch.device(device), precision, on_step, checkpoints=checkpoints
    )

    def evaluate() -> float:
        trainer.network.eval()  # as predictions do
        if len(trainer.state.history) + 1 == stop_in_dev:
            raise KeyboardInterrupt
        return [0.2, 0.9, 0.5, 0.4][len(trainer.state.history)]

    history = trainer.fit(INPUTS, tiny.targets(INPUTS), chosen, 1, evaluate)
    predicted = [float(value) for row in trainer.predict(INPUTS)[1] for value in row]
    return tiny.weights(trainer.network), history, predicted


def assert_same(one: Found, other: Found) -> None:
    assert one[0].keys() == other[0].keys()
    assert all(torch.equal(one[0][name], other[0][name]) for name in one[0])
    assert one[1:] == other[1:]


@pytest.mark.costly
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"select": "last"},
        {"max_updates": 12},
        {"select": "last", "max_updates": 13, "weight_decay": 0.1},
        {"head_lr": 1e-2, "clip_norm": 0.0},
        {"adapter": "lora", "lora_rank": 4, "lora_dropout": 0.1},
    ],
    ids=str,
)
def test_it_ends_as_if_it_had_never_stopped(settings: dict[str, Any]) -> None:
    """After the last step of an epoch, before dev is known; then within epochs, also where an earlier one is best."""
    expected = fit(**settings)
    for stop in (5, 11):
        kept = Memory()
        for again in (stop, stop + 1):
            with pytest.raises(KeyboardInterrupt):
                fit(kept, stop=again, **settings)
        assert_same(fit(kept, **settings), expected)


def test_what_is_frozen_is_in_no_checkpoint() -> None:
    kept = Memory()
    with pytest.raises(KeyboardInterrupt):
        fit(kept, stop=11, adapter="lora", lora_rank=4)
    assert all("lora_" in name or name.startswith("head.") for name in kept.tensors["network"])


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_on_a_gpu_it_ends_so_too(precision: Precision) -> None:
    """Its own random generator, and the scale of the losses in fp16."""
    kept = Memory()
    for stop in (5, 8):
        with pytest.raises(KeyboardInterrupt):
            fit(kept, stop=stop, where=("cuda", precision))
    assert_same(fit(kept, where=("cuda", precision)), fit(where=("cuda", precision)))


@pytest.mark.parametrize("epoch", [1, 2, 4])
def test_a_stop_while_dev_is_predicted_loses_no_step(epoch: int) -> None:
    kept = Memory()
    with pytest.raises(KeyboardInterrupt):
        fit(kept, stop_in_dev=epoch)
    values = json.loads(kept.values)
    assert (values["begun"], len(kept.tensors["loop"]["losses"]), len(values["history"])) == (
        5 * (epoch - 1),
        5,
        epoch - 1,
    )
    assert_same(fit(kept), fit())


def test_a_finished_training_is_not_trained_again() -> None:
    kept = Memory()
    expected = fit(kept)
    assert json.loads(kept.values)["begun"] == 20
    assert_same(fit(kept, stop=1), expected)  # no step, so nothing that stops it


def test_the_best_weights_are_written_once() -> None:
    kept, files = Memory(), []
    for stop in (6, 11, 16):
        with pytest.raises(KeyboardInterrupt):
            fit(kept, stop=stop)
        files.append(set(kept.tensors))
    everything = {"network", "best", "optimizer", "loop"}
    assert files == [everything] * 3  # within an epoch the network is ahead of the best
    epochs: list[set[str]] = []
    write = kept.write
    kept.values = ""
    kept.write = lambda tensors, values: (epochs.append(set(tensors)), write(tensors, values))[0]  # type: ignore[method-assign]
    fit(kept)
    assert epochs == [everything - {"best"}, everything - {"best"}, everything, everything]


def test_a_stop_within_a_step_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Memory()

    with pytest.raises(KeyboardInterrupt):
        fit(kept, stop=7)
    before = kept.values
    monkeypatch.setattr(Trainer, "_step", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        fit(kept)
    assert kept.values == before


def test_an_error_writes_nothing() -> None:
    kept = Memory()

    trainer = tiny.trainer(tiny.network(), on_step=Mock(side_effect=RuntimeError), checkpoints=kept)
    with pytest.raises(RuntimeError):
        trainer.fit(INPUTS, tiny.targets(INPUTS), tiny.settings(), 1, lambda: 0.0)
    assert not kept.values


def test_the_weights_of_another_network_are_set_aside() -> None:
    kept = Memory()
    with pytest.raises(KeyboardInterrupt):
        fit(kept, stop=7, wide=48)
    found = fit(kept)
    assert "another network" in kept.aside
    assert_same(found, fit())


def test_too_little_memory_is_remembered() -> None:
    """Other micro-batches would add up to other last bits."""
    kept = Memory()
    with pytest.raises(KeyboardInterrupt):
        fit(kept, stop=7)
    kept.values = json.dumps({**json.loads(kept.values), "micro_batch": 2})
    trainer = tiny.trainer(tiny.network(), checkpoints=kept)
    trainer.fit(INPUTS, tiny.targets(INPUTS), tiny.settings(epochs=4), 1, lambda: 0.0)
    assert (trainer.micro_batch, trainer.resumed["step"]) == (2, 7)
