"""Losses over all places with the padding masked. Oracle: the words alone, chosen by their mask, as it was before."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from blurb.heads import Problem, heads

TAGS = ("O", "B", "I")


def batch(seed: int, empty: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Features (6, 9, 16), tags and mask; one sentence without words where `empty`."""
    draw = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 10, (6,), generator=draw)
    lengths[0] = 9
    if empty:
        lengths[3] = 0
    mask = torch.arange(9) < lengths.unsqueeze(1)
    tags = torch.randint(0, 2, (6, 9), generator=draw)  # no I, so that every path obeys the scheme
    return torch.randn(6, 9, 16, generator=draw), tags, mask


def gradients(head: torch.nn.Module, loss: Tensor) -> list[Tensor]:
    head.zero_grad()
    loss.backward()
    return [parameter.grad.clone() for parameter in head.parameters() if parameter.grad is not None]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("empty", [False, True])
def test_linear(seed: int, empty: bool) -> None:
    features, tags, mask = batch(seed, empty)
    head = heads.get("linear")(16, Problem("tokens", TAGS, "bio"), 0.0)
    before = functional.cross_entropy(head(features)[mask], tags[mask], reduction="sum")
    after = head.loss(features, tags, mask)
    assert after.item() == pytest.approx(before.item(), rel=1e-6)
    pairs = zip(
        gradients(head, before), gradients(head, head.loss(features, tags, mask)), strict=True
    )
    assert all(torch.equal(one, other) for one, other in pairs)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("empty", [False, True])
def test_crf(seed: int, empty: bool) -> None:
    features, tags, mask = batch(seed, empty)
    head = heads.get("crf")(16, Problem("tokens", TAGS, "bio"), 0.0)
    other = copy.deepcopy(head)
    rows = mask[:, 0]
    before = -other.chain.log_likelihood(other(features, mask)[rows], tags[rows], mask[rows]).sum()
    after = head.loss(features, tags, mask)
    assert after.item() == pytest.approx(before.item(), rel=1e-6)
    pairs = list(zip(gradients(other, before), gradients(head, after), strict=True))
    if empty:  # sums over a batch of another size
        assert all(torch.allclose(one, two, rtol=1e-5, atol=1e-6) for one, two in pairs)
    else:
        assert all(torch.equal(one, two) for one, two in pairs)
    best, confidence = head.eval().predict(features, mask)
    assert (best[~mask] == 0).all()
    assert (confidence[~mask] == 0).all()
    assert torch.equal(best[rows], other.chain.decode(other(features, mask)[rows], mask[rows]))
