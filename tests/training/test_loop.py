"""The loop: gradients, memory, broken losses, which weights remain, and repeatability."""

import logging
import math
import platform
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings, strategies as st
from transformers import get_linear_schedule_with_warmup

from blurb.heads._base import OutputKind
from blurb.inputs.features import Features
from blurb.messages.errors import ErrorGroup, SettingsError, TrainingError
from blurb.training.hardware import choose_device, choose_precision, out_of_memory, seed_everything
from blurb.training.loop import CHECK_EVERY, Epoch, Trainer
from blurb.training.network import Network
from blurb.training.optimizer import learning_rate_factor, make_adamw
from tests.cli.in_process import run
from tests.training import tiny


def _fit(
    trainer: Trainer, inputs: Features, seed: int = 1, evaluate: Any = lambda: 0.0, **settings: Any
) -> list[Epoch]:
    return trainer.fit(inputs, tiny.targets(inputs), tiny.settings(**settings), seed, evaluate)


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["single", "tokens"])
def test_it_learns(kind: OutputKind) -> None:
    trainer, inputs = tiny.trainer(tiny.network(kind)), tiny.features(120, words=kind == "tokens")
    history = _fit(trainer, inputs, epochs=12, lr=1e-2, select="last")
    assert history[-1].loss < 0.3 * history[0].loss
    assert tiny.accuracy(trainer, inputs) > 0.9


def _gradients(kind: OutputKind, size: int) -> tuple[float, dict[str, torch.Tensor]]:
    trainer = tiny.trainer(tiny.network(kind, labels=1 if kind == "regression" else 3))
    trainer.network.train()
    inputs = tiny.features(13, words=kind == "tokens")
    targets: Any = tiny.targets(inputs)
    if kind == "multi":
        targets = np.eye(3, dtype=np.float32)[targets]
    if kind == "regression":
        targets = targets.astype(np.float32)
    return float(trainer.add_gradients(inputs, np.arange(13), targets, size)), {
        name: p.grad.clone() for name, p in trainer.network.named_parameters() if p.grad is not None
    }


@pytest.mark.parametrize("kind", ["single", "tokens", "multi", "regression"])
@pytest.mark.parametrize("size", [1, 4, 5, 12])
def test_micro_batches_add_up_to_the_gradient_of_the_batch(kind: OutputKind, size: int) -> None:
    loss, whole = _gradients(kind, 13)
    part, parts = _gradients(kind, size)
    assert part == pytest.approx(loss, rel=1e-5)
    assert whole.keys() == parts.keys()
    assert any(gradient.abs().max() > 1e-3 for gradient in whole.values())
    for name, gradient in whole.items():
        assert torch.allclose(parts[name], gradient, atol=1e-6), name


def test_the_loss_of_a_batch_is_the_mean_over_its_words() -> None:
    network, inputs = tiny.network("tokens"), tiny.features(6, words=True)
    trainer = tiny.trainer(network)
    mean = float(trainer.add_gradients(inputs, np.arange(6), tiny.targets(inputs), 6))
    losses, words = 0.0, 0
    for row in range(6):
        size = len(tiny.targets(inputs)[row])
        losses += size * float(
            trainer.add_gradients(inputs, np.array([row]), tiny.targets(inputs), 1)
        )
        words += size
    assert mean == pytest.approx(losses / words, rel=1e-5)


MESSAGES = [
    "CUDA out of memory. Tried to allocate 2.00 GiB",
    "[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes.",
    "DefaultCPUAllocator: not enough memory: you tried to allocate 1 bytes.",
    "MPS backend out of memory (MPS allocated: 18.00 GB)",
]


@pytest.mark.parametrize("message", MESSAGES)
def test_messages_that_mean_too_little_memory(message: str) -> None:
    assert out_of_memory(RuntimeError(message))
    assert out_of_memory(torch.cuda.OutOfMemoryError("whatever"))
    assert not out_of_memory(RuntimeError("shapes do not match"))


def test_torch_on_this_machine_says_so_in_words_that_are_known() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**52)
    assert out_of_memory(caught.value)


def _limited(
    monkeypatch: pytest.MonkeyPatch,
    refused: Callable[[list[int]], bool],
    message: str = MESSAGES[0],
    method: str = "loss",
) -> list[int]:
    """A network fails with a message where it is `refused`, which has the sizes of all calls; returns these sizes."""
    tried: list[int] = []
    whole = getattr(Network, method)

    def limited(self: Network, batch: Any) -> Any:
        tried.append(len(batch.ids))
        if refused(tried):
            raise RuntimeError(message)
        return whole(self, batch)

    monkeypatch.setattr(Network, method, limited)
    return tried


def test_too_little_memory_halves_the_micro_batch_and_changes_nothing_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    inputs = tiny.features(24)
    plain = tiny.trainer(tiny.network())
    expected = _fit(plain, inputs)
    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING, logger="blurb"):
        tried = _limited(patch, lambda tried: tried[-1] > 3)
        small = tiny.trainer(tiny.network())
        found = _fit(small, inputs)
    assert tried[:5] == [8, 4, 2, 2, 2]
    assert small.micro_batch == 2
    assert max(tried[2:]) == 2
    assert "micro-batches of 4" in caplog.text
    assert "micro-batches of 2" in caplog.text
    assert [epoch.loss for epoch in found] == pytest.approx(
        [epoch.loss for epoch in expected], rel=1e-4
    )
    mine, other = tiny.weights(small.network), tiny.weights(plain.network)
    for name in mine:
        assert torch.allclose(mine[name], other[name], atol=1e-5), name


def test_memory_that_runs_out_in_the_middle_of_a_batch_leaves_no_half_gradient(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inputs = tiny.features(8)
    plain = tiny.trainer(tiny.network())
    _fit(plain, inputs, epochs=1)
    tried = _limited(monkeypatch, lambda tried: len(tried) == 2)
    small = tiny.trainer(tiny.network(), micro_batch=4)
    _fit(small, inputs, epochs=1)
    assert len(tried) == 2 + 4
    mine, other = tiny.weights(small.network), tiny.weights(plain.network)
    assert all(torch.allclose(mine[name], other[name], atol=1e-5) for name in mine)


def test_a_single_input_that_does_not_fit_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    _limited(monkeypatch, lambda tried: True)
    with pytest.raises(TrainingError, match="Out of memory for a single input; reduce max_length"):
        _fit(tiny.trainer(tiny.network()), tiny.features(5))


def test_other_errors_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = _limited(monkeypatch, lambda tried: True, "shapes do not match")
    with pytest.raises(RuntimeError, match="shapes do not match"):
        _fit(tiny.trainer(tiny.network()), tiny.features(5))
    assert len(tried) == 1


@pytest.mark.parametrize(("bad", "noticed"), [(1, CHECK_EVERY), (CHECK_EVERY + 3, CHECK_EVERY + 5)])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_loss_that_is_not_a_number_stops_the_training(
    monkeypatch: pytest.MonkeyPatch, bad: int, noticed: int, value: float
) -> None:
    """Steps 1 to 15 are an epoch: looked at after the tenth and at its end."""
    trainer, loss, done = tiny.trainer(tiny.network()), Network.loss, 0

    def broken(self: Network, batch: Any) -> torch.Tensor:
        nonlocal done
        done += 1
        return loss(self, batch) * (value if done == bad else 1.0)

    monkeypatch.setattr(Network, "loss", broken)
    with pytest.raises(
        TrainingError, match=rf"not finite \(epoch 1, by step {noticed}, learning rate 0.001\)"
    ):
        _fit(trainer, tiny.features(8 * (CHECK_EVERY + 5)))


def _watched(trainer: Trainer, scores: list[float]) -> tuple[Any, list[dict[str, torch.Tensor]]]:
    """An `evaluate` that gives these scores and remembers the weights at each."""
    seen: list[dict[str, torch.Tensor]] = []

    def evaluate() -> float:
        trainer.network.eval()
        seen.append(tiny.weights(trainer.network))
        return scores[len(seen) - 1]

    return evaluate, seen


def _same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize(
    ("scores", "best"),
    [
        ([0.2, 0.9, 0.5], 1),
        ([0.9, 0.2, 0.5], 0),
        ([0.1, 0.5, 0.5], 1),
        ([0.0, 0.0, 0.0], 0),
        ([-0.5, -0.1, -0.3], 1),
    ],
)
def test_the_weights_of_the_first_best_epoch_remain(scores: list[float], best: int) -> None:
    trainer = tiny.trainer(tiny.network(dropout=0.1))
    evaluate, seen = _watched(trainer, scores)
    history = _fit(trainer, tiny.features(24), evaluate=evaluate, epochs=3)
    assert [epoch.dev for epoch in history] == scores
    assert [epoch.epoch for epoch in history] == [1, 2, 3]
    assert _same(tiny.weights(trainer.network), seen[best])
    assert not _same(seen[0], seen[1])


def test_predictions_after_training_are_those_of_the_best_epoch() -> None:
    """The embedding keeps a table beside its trained rows: it has to go back as well."""
    trainer, inputs = tiny.trainer(tiny.network()), tiny.features(24)
    predictions: list[np.ndarray] = []

    def evaluate() -> float:
        predictions.append(np.stack(trainer.predict(inputs)[1]))
        return [0.1, 0.8, 0.3][len(predictions) - 1]

    _fit(trainer, inputs, evaluate=evaluate, epochs=3, lr=1e-2)
    assert np.array_equal(np.stack(trainer.predict(inputs)[1]), predictions[1])
    assert not np.allclose(predictions[1], predictions[2])


def test_the_last_weights_remain_if_asked_for_and_dev_is_looked_at_once() -> None:
    trainer = tiny.trainer(tiny.network())
    evaluate, seen = _watched(trainer, [0.3])
    history = _fit(trainer, tiny.features(24), evaluate=evaluate, epochs=3, select="last")
    assert [epoch.dev for epoch in history] == [None, None, 0.3]
    assert _same(tiny.weights(trainer.network), seen[0])


def _seeded(seed: int) -> tuple[dict[str, torch.Tensor], list[Epoch]]:
    seed_everything(seed)
    torch.manual_seed(seed)
    trainer = tiny.trainer(tiny.network(dropout=0.1, seed=seed))
    history = _fit(trainer, tiny.features(24), seed=seed)
    return tiny.weights(trainer.network), history


def test_the_same_seed_repeats_bit_for_bit_and_another_does_not() -> None:
    (one, first), (same, again), (other, _) = _seeded(1), _seeded(1), _seeded(2)
    assert _same(one, same)
    assert first == again
    assert not any(
        torch.equal(one[name], other[name])
        for name in one
        if "weight" in name and "Norm" not in name
    )


def test_seed_everything_seeds_the_three_generators() -> None:
    draws = []
    for seed in (4, 4, 5):
        seed_everything(seed)
        draws.append((random.random(), float(np.random.rand()), float(torch.rand(()))))
    assert draws[0] == draws[1]
    assert not set(draws[0]) & set(draws[2])


def test_every_step_has_its_learning_rate_and_is_reported() -> None:
    steps: list[tuple[int, int]] = []
    trainer = tiny.trainer(tiny.network(), on_step=lambda *news: steps.append(news))
    history = _fit(trainer, tiny.features(20), epochs=4, lr=2e-3, warmup=0.25)
    assert steps == [(step, 12) for step in range(1, 13)]
    factor = learning_rate_factor(0.25, 12)
    assert [epoch.learning_rate for epoch in history] == pytest.approx(
        [2e-3 * factor(step) for step in (2, 5, 8, 11)]
    )


def test_a_rate_of_zero_moves_nothing() -> None:
    trainer = tiny.trainer(tiny.network())
    before = tiny.weights(trainer.network)
    _fit(trainer, tiny.features(20), lr=0.0)
    after = tiny.weights(trainer.network)
    # The table of the embedding is replaced by its used rows
    assert all(
        torch.equal(value, after[name])
        for name, value in before.items()
        if "word_embeddings" not in name
    )


@pytest.mark.parametrize("clip_norm", [0.01, 0.0])
def test_gradients_are_clipped_to_their_norm_or_not_at_all(
    monkeypatch: pytest.MonkeyPatch, clip_norm: float
) -> None:
    trainer, norms = tiny.trainer(tiny.network()), []
    step = torch.optim.AdamW.step

    def watched(self: torch.optim.AdamW, *args: Any, **options: Any) -> Any:
        gradients = [p.grad.norm() for p in trainer.network.parameters() if p.grad is not None]
        norms.append(float(torch.stack(gradients).norm()))
        return step(self, *args, **options)

    monkeypatch.setattr(torch.optim.AdamW, "step", watched)
    _fit(trainer, tiny.features(20), clip_norm=clip_norm)
    assert len(norms) == 6
    assert norms == pytest.approx([0.01] * 6, rel=1e-3) if clip_norm else min(norms) > 0.05


def test_predictions_are_in_the_order_of_the_inputs() -> None:
    trainer, inputs = tiny.trainer(tiny.network()), tiny.features(30)
    _, together = trainer.predict(inputs)
    for row in range(30):
        _, alone = trainer.predict(inputs.of_units([row]))
        assert np.allclose(alone[0], together[row], atol=1e-5)


@pytest.mark.parametrize("most", [1, 3, 7])
def test_prediction_halves_its_batches_where_memory_is_short(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    trainer, inputs = tiny.trainer(tiny.network()), tiny.features(30)
    _, expected = trainer.predict(inputs)
    _limited(monkeypatch, lambda tried: tried[-1] > most, MESSAGES[1], "predict")
    assert np.allclose(np.stack(trainer.predict(inputs)[1]), np.stack(expected), atol=1e-5)


def test_prediction_that_does_not_fit_one_input_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    _limited(monkeypatch, lambda tried: True, method="predict")
    with pytest.raises((RuntimeError, TrainingError), match="emory"):
        tiny.trainer(tiny.network()).predict(tiny.features(3))


def test_the_head_works_in_float32_under_bf16() -> None:
    trainer = Trainer(tiny.network(), tiny.PAD, torch.device("cpu"), "bf16")
    inputs = tiny.features(20)
    assert math.isfinite(_fit(trainer, inputs, epochs=1)[0].loss)
    assert {parameter.dtype for parameter in trainer.network.parameters()} == {torch.float32}
    assert trainer.predict(inputs)[1][0].dtype == np.float32


@pytest.mark.parametrize(
    "device", ["nonsense", "gpu", "GPU", "meta", "xpu", "cuda:x", "cuda:-1", "", "cpu:0"]
)
def test_what_is_no_device_is_told_with_blurb_s_own_list(device: str) -> None:
    with pytest.raises(
        SettingsError, match=r"--device must be one of auto, cpu, cuda, cuda:N, mps \(got "
    ):
        choose_device(device)


def test_a_device_that_is_not_there_is_told_with_a_model_that_is_not_there(here: Path) -> None:
    for command in (["run"], ["ablate", "--axis", "head"]):
        plan = [*command, "./nowhere", "--suite", "demo", "--tasks", "gad", "--device", "cuda:97"]
        error = run(*plan).exception
        assert isinstance(error, ErrorGroup)
        assert "1. --device cuda:97 is not available; this machine has auto, cpu" in str(error)
        assert "2. The model folder ./nowhere does not exist" in str(error)


def test_devices_and_precisions_that_are_not_there_are_refused() -> None:
    cpu = torch.device("cpu")
    assert choose_device("cpu") == cpu
    assert choose_precision("fp32", cpu) == "fp32"
    assert choose_precision("auto", cpu) in ("fp32", "bf16")
    with pytest.raises(SettingsError, match=r"is not available"):
        choose_device("cuda:97")
    for precision, told in (("fp16", "fp16 needs a GPU"), ("int8", "got 'int8'")):
        with pytest.raises(SettingsError, match=told):
            choose_precision(precision, cpu)


def test_a_budget_of_updates_ends_within_an_epoch() -> None:
    inputs = tiny.features(40)
    steps: list[tuple[int, int]] = []
    net = tiny.trainer(tiny.network(), on_step=lambda *news: steps.append(news))
    # Five to an epoch
    history = _fit(net, inputs, evaluate=lambda: 0.5, epochs=10, max_updates=12)
    assert steps == [(done, 12) for done in range(1, 13)]
    assert [(epoch.epoch, epoch.dev) for epoch in history] == [(1, 0.5), (2, 0.5), (3, 0.5)]
    # Decays to 0 at the end of the budget
    assert history[-1].learning_rate == pytest.approx(1e-3 * (1 / 11))


def test_a_budget_that_is_not_reached_changes_nothing() -> None:
    inputs = tiny.features(40)
    found = []
    for limit in (0, 1_000):
        net = tiny.network()
        _fit(tiny.trainer(net), inputs, max_updates=limit)
        found.append(tiny.weights(net))
    assert _same(*found)


# Freed memory goes back to the system.


SCRIPT = """
import torch
from blurb.system import process
def resident(): return int(open("/proc/self/statm").read().split()[1]) * 4096
kept = [torch.ones(1_000) for _ in range(50_000)]  # small tensors come from the heap, which only shrinks at its end
last, held = kept[-1], None
del kept
held = resident()
process.trim_heap()
print(held - resident())
"""


@pytest.mark.costly
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a function of glibc")
def test_freed_memory_goes_back() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) > 150_000_000


# AdamW and its schedule. Oracle: transformers.


def _theirs(warmup: int, total: int) -> list[float]:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    factor = get_linear_schedule_with_warmup(optimizer, warmup, total).lr_lambdas[0]
    return [factor(step) for step in range(total)]


@settings(max_examples=120)
@given(total=st.integers(1, 300), warmup=st.integers(1, 200).map(float) | st.floats(0, 0.99))
@example(total=1, warmup=1.0)
def test_a_number_or_a_share_of_warm_up_steps_is_that_of_transformers(
    total: int, warmup: float
) -> None:
    factor = learning_rate_factor(warmup, total)
    steps = min(int(warmup), total) if warmup >= 1 else round(warmup * total)
    assert [factor(step) for step in range(total)] == pytest.approx(
        _theirs(steps, total), abs=1e-12
    )


def test_ten_per_cent_of_a_hundred_steps() -> None:
    factor = learning_rate_factor(0.1, 100)
    assert [factor(step) for step in (0, 5, 10, 55, 99, 100)] == [0.0, 0.5, 1.0, 0.5, 1 / 90, 0.0]


def test_decay_is_only_for_matrices_and_the_settings_arrive() -> None:
    network = tiny.network()
    optimizer = make_adamw(
        network, tiny.settings(weight_decay=0.01, beta1=0.8, beta2=0.98, epsilon=1e-6, lr=3e-4)
    )
    decayed = {
        id(parameter)
        for group in optimizer.param_groups
        if group["weight_decay"]
        for parameter in group["params"]
    }
    for name, parameter in network.named_parameters():
        assert (id(parameter) in decayed) == (parameter.ndim > 1), name
    for group in optimizer.param_groups:
        assert (group["betas"], group["eps"], group["lr"], group["scale"]) == (
            (0.8, 0.98),
            1e-6,
            3e-4,
            1.0,
        )


def test_every_parameter_that_learns_is_in_one_group() -> None:
    network = tiny.network()
    network.encoder.embeddings.requires_grad_(False)
    assert sorted(
        [
            id(parameter)
            for group in make_adamw(network, tiny.settings()).param_groups
            for parameter in group["params"]
        ]
    ) == sorted(id(parameter) for parameter in network.parameters() if parameter.requires_grad)


def test_head_and_pooling_learn_with_a_rate_of_their_own() -> None:
    network = tiny.network()
    groups = make_adamw(network, tiny.settings(lr=1e-4, head_lr=1e-3)).param_groups
    peaks = {id(parameter): group["peak"] for group in groups for parameter in group["params"]}
    for name, parameter in network.named_parameters():
        assert peaks[id(parameter)] == (1e-4 if name.startswith("encoder.") else 1e-3), name
    assert {
        group["peak"] for group in make_adamw(network, tiny.settings(lr=1e-4)).param_groups
    } == {1e-4}
