"""The very object that a card records, run as a plain function: it gives what the loop gives at the same padding."""

import contextlib
import copy
import itertools

import numpy as np
import pytest
import torch

from benchmarks.device.measure_steps import network_like, random_batch
from benchmarks.device.static_step import StaticSteps, best_lengths, padded
from blurb.checkpoints import Checkpoint
from blurb.training.batches import Batch
from blurb.training.network import Network
from tests import checkpoints
from tests.conftest import Builder

CPU = torch.device("cpu")


def network_of(checkpoint: Builder, kind: str, dropout: float | None = None) -> Network:
    encoder, _ = Checkpoint(checkpoint(kind)).load_encoder()
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    network = network_like(encoder, "cpu")
    for module in network.modules():
        if isinstance(module, torch.nn.Dropout) and dropout is not None:
            module.p = dropout
    return network


def gradients(network: Network, batch: Batch, pieces: int | None = None) -> list[torch.Tensor]:
    if pieces:
        batch = padded(batch, pieces, 0)
    network.zero_grad()
    (network.loss(batch) / int(batch.word_mask.sum())).backward()  # type: ignore[no-untyped-call]
    return [one.grad.clone() for one in network.parameters() if one.grad is not None]


@pytest.mark.parametrize("kind", checkpoints.KINDS)
def test_padding_to_a_length_changes_no_gradient(checkpoint: Builder, kind: str) -> None:
    """A family that ignores the mask would show here."""
    network = network_of(checkpoint, kind).eval()  # without dropout
    network.autocast = contextlib.nullcontext()  # in float32
    batch = random_batch(network.encoder.config.vocab_size, 3, 7)  # type: ignore[union-attr, arg-type]
    for short, long in zip(gradients(network, batch), gradients(network, batch, 11), strict=True):
        scale = short.abs().max().clamp(min=1.0)
        assert torch.allclose(short / scale, long / scale, atol=2e-6)


@pytest.mark.parametrize("kind", checkpoints.KINDS)
def test_twenty_steps_are_those_of_the_loop_to_the_bit(checkpoint: Builder, kind: str) -> None:
    """With dropout, clipping and AdamW; gradients keep their addresses, which a graph knows."""
    plain = network_of(checkpoint, kind)
    static = copy.deepcopy(plain)
    steps = StaticSteps(static, 0, 3, [8, 12], CPU)
    optimizers = [
        torch.optim.AdamW(one.parameters(), lr=1e-3, fused=True) for one in (plain, static)
    ]
    addresses: list[int] = []
    for number, pieces in zip(range(20), itertools.cycle([5, 8, 10, 12])):
        batch = random_batch(static.encoder.config.vocab_size, 3, pieces)  # type: ignore[union-attr, arg-type]
        whole = padded(batch, 8 if pieces <= 8 else 12, 0)
        torch.manual_seed(number)
        loss = plain.loss(whole) / batch.ids.numel()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.manual_seed(number)
        assert torch.equal(steps(batch, batch.ids.numel()), loss.detach())
        for network, optimizer in zip((plain, static), optimizers, strict=True):
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
        plain.zero_grad()
        found = [one.grad.data_ptr() for one in static.parameters() if one.grad is not None]
        addresses = addresses or found
        assert found == addresses
    for one, other in zip(plain.parameters(), static.parameters(), strict=True):
        assert torch.equal(one, other)
    assert dict(steps.counts) == {"eager": 20}


def test_a_batch_of_another_shape_is_computed_as_it_is(checkpoint: Builder) -> None:
    network = network_of(checkpoint, "bert_uncased", 0.0)
    steps = StaticSteps(network, 0, 3, [8], CPU)
    for rows, pieces in ((2, 5), (3, 9)):
        batch = random_batch(network.encoder.config.vocab_size, rows, pieces)  # type: ignore[union-attr, arg-type]
        wanted = gradients(network, batch)
        steps(batch, batch.ids.numel())
        found = [one.grad for one in network.parameters() if one.grad is not None]
        assert all(torch.equal(one, other) for one, other in zip(wanted, found, strict=True))
    assert dict(steps.counts) == {"other shape": 2}


def test_the_best_lengths_are_those_of_an_exhaustive_search() -> None:
    generator = np.random.default_rng(0)
    for _ in range(50):
        longest = generator.integers(3, 12, 9).tolist()
        every = sorted(set(longest))
        for most in (1, 2, 3, 8):
            chosen = best_lengths(longest, most)

            def cost(lengths: tuple[int, ...], longest: list[int] = longest) -> int:
                return sum(min(each for each in lengths if each >= one) for one in longest)

            others = [
                each
                for count in range(1, most + 1)
                for each in itertools.combinations(every, count)
                if each[-1] == every[-1]
            ]
            assert len(chosen) <= most
            assert cost(tuple(chosen)) == min(map(cost, others))
