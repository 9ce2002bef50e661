"""The loop on a GPU. Oracles: the same training in fp32, the same batch in one piece, predictions of other batches."""

import gc
import logging
from typing import Any

import numpy as np
import pytest
import torch

from blurb.inputs.features import Features
from blurb.training import loop
from blurb.training.hardware import Precision, choose_device, has_bf16, seed_everything
from blurb.training.loop import Trainer
from blurb.training.optimizer import make_adamw
from tests.training import tiny

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]
WIDE = {"hidden_size": 16, "intermediate_size": 8_192}
"""A feed-forward that takes most of the memory of a batch."""


def on_gpu(precision: Precision = "fp32", kind: Any = "single", **config: Any) -> Trainer:
    seed_everything(1)
    return Trainer(tiny.network(kind, **config), tiny.PAD, torch.device("cuda"), precision)


def fit(trainer: Trainer, inputs: Features, **settings: Any) -> list[float]:
    chosen = tiny.settings(**{"epochs": 12, "lr": 1e-2, "select": "last", **settings})
    return [
        epoch.loss for epoch in trainer.fit(inputs, tiny.targets(inputs), chosen, 1, lambda: 0.0)
    ]


def precisions() -> list[Precision]:
    return ["bf16", "fp16"] if has_bf16(choose_device("auto")) else ["fp16"]


@pytest.mark.parametrize("kind", ["single", "tokens"])
def test_it_learns(kind: Any) -> None:
    trainer, inputs = on_gpu(kind=kind), tiny.features(120, words=kind == "tokens")
    losses = fit(trainer, inputs)
    assert losses[-1] < 0.3 * losses[0]
    assert tiny.accuracy(trainer, inputs) > 0.9


def test_a_step_never_waits_for_the_gpu() -> None:
    trainer, inputs = on_gpu(kind="tokens"), tiny.features(40, words=True)
    targets, rows = tiny.targets(inputs), np.arange(16)
    optimizer = make_adamw(trainer.network, tiny.settings())
    trainer._step(inputs, rows, targets, optimizer, 1.0)  # allocates
    torch.cuda.set_sync_debug_mode("error")
    try:
        trainer._step(inputs, rows, targets, optimizer, 1.0)
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_the_gpu_trains_as_the_cpu_does() -> None:
    """Without dropout both compute the same in fp32, up to the order of sums."""
    inputs = tiny.features(40)
    seed_everything(1)
    expected = fit(tiny.trainer(tiny.network()), inputs, epochs=2, lr=1e-3)
    assert fit(on_gpu(), inputs, epochs=2, lr=1e-3) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_half_precision_learns_what_fp32_learns(precision: Precision) -> None:
    if precision not in precisions():
        pytest.skip("the card has no bf16")
    inputs = tiny.features(120)
    whole, half = fit(on_gpu(), inputs), fit(on_gpu(precision), inputs)
    # In fp16 the first steps only find the scale of the loss
    assert half[0] == pytest.approx(whole[0], rel=0.2)
    assert half[-1] < 0.3 * half[0]


def test_a_repetition_has_equal_bits() -> None:
    inputs = tiny.features(40)
    one = fit(on_gpu(dropout=0.1), inputs)
    assert fit(on_gpu(dropout=0.1), inputs) == one


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
def test_predictions_do_not_depend_on_the_batches(
    precision: Precision, monkeypatch: pytest.MonkeyPatch
) -> None:
    if precision != "fp32" and precision not in precisions():
        pytest.skip("the card has no bf16")
    trainer, inputs = on_gpu(precision), tiny.features(60)
    fit(trainer, inputs)
    answers, scores = trainer.predict(inputs)
    for most in (16, 100, 65_536):
        monkeypatch.setitem(loop.SUBTOKENS, "cuda", most)
        again, probabilities = trainer.predict(inputs)
        for one, two in zip(scores, probabilities, strict=True):
            np.testing.assert_allclose(one, two, atol=1e-5 if precision == "fp32" else 2e-2)
        # Half precision decides no tie
        sure = [row for row, score in enumerate(scores) if score.max() > 0.6]
        assert len(sure) > 50
        assert [int(again[row]) for row in sure] == [int(answers[row]) for row in sure]


def test_too_little_memory_halves_the_micro_batch(caplog: pytest.LogCaptureFixture) -> None:
    """The card says so itself: the process may take half of what the batch needs."""
    inputs, settings = tiny.features(2_048), {"epochs": 1, "batch_size": 1_024, "lr": 1e-3}
    free = on_gpu(**WIDE)
    before = torch.cuda.memory_reserved()
    torch.cuda.reset_peak_memory_stats()
    expected = fit(free, inputs, **settings)
    peak = torch.cuda.max_memory_reserved()
    assert peak > before
    del free
    gc.collect()  # the encoder is in a cycle of references
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(
        (torch.cuda.memory_reserved() + (peak - before) / 2)
        / torch.cuda.get_device_properties(0).total_memory
    )
    try:
        trainer = on_gpu(**WIDE)
        with caplog.at_level(logging.WARNING, logger="blurb"):
            losses = fit(trainer, inputs, **settings)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert trainer.micro_batch < 1_024
    assert "out of memory: using micro-batches" in caplog.text
    assert losses == pytest.approx(expected, rel=1e-3)
