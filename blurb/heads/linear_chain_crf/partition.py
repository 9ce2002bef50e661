"""The exact partition function of a linear chain by two algorithms: word by word, and as a balanced tree."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from blurb.heads.linear_chain_crf.forward_backward import Potentials, flip, sweep
from blurb.heads.linear_chain_crf.parallel_scan import tree


def log_partition(emissions: Tensor, potentials: Potentials, mask: Tensor) -> Tensor:
    """Logarithm of the sum over all paths of exp(score), by the faster algorithm for the size.

    :param emissions: (batch, words, tags), finite also in the padding
    :param mask: (batch, words), True for words
    :returns: (batch,)
    """
    batch, words, tags = emissions.shape
    if prefers_tree(batch, words, tags, emissions.device.type):
        return tree(emissions, potentials, mask)
    return sequential(emissions, potentials, mask)


def prefers_tree(batch: int, words: int, tags: int, device: str) -> bool:
    """Whether the tree is faster.

    It multiplies matrices instead of vectors, with `tags` times the arithmetic, but in log2(words) instead of `words`
    steps: faster as long as launching a step costs more than its arithmetic (`benchmarks/crf.py`).
    """
    return words > 16 and batch * tags**3 <= (2_100 if device == "cpu" else 200_000)


def sequential(emissions: Tensor, potentials: Potentials, mask: Tensor) -> Tensor:
    """(batch,), computed word by word; the gradient comes from forward and backward variables."""
    total: Tensor = _Sequential.apply(emissions, *potentials, mask)  # type: ignore[no-untyped-call]
    return total


def forward_backward(emissions: Tensor, potentials: Potentials, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Forward and backward variables, (batch, words, tags), and the log partition function, (batch,).

    Both variables include the emission of their own word.
    """
    states = sweep(emissions, potentials, mask, emissions.shape[1], torch.logsumexp).transpose(0, 2)
    forward, backward = states[:, 0], flip(states[:, 1], mask)  # states: (batch, 2, words, tags)
    total = torch.logsumexp(potentials.start_transitions + backward[:, 0], -1)
    return forward, backward, total


class _Sequential(torch.autograd.Function):
    """The log partition function, whose gradient is the expected number of uses of each score."""

    @staticmethod
    def forward(
        ctx: Any,
        emissions: Tensor,
        start_transitions: Tensor,
        transitions: Tensor,
        end_transitions: Tensor,
        mask: Tensor,
    ) -> Tensor:
        forward, backward, total = forward_backward(
            emissions, Potentials(start_transitions, transitions, end_transitions), mask
        )
        ctx.save_for_backward(emissions, transitions, mask, forward, backward)
        return total

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        emissions, transitions, mask, forward, backward = ctx.saved_tensors
        padding = ~mask.unsqueeze(-1)  # forward variables run on into it
        tags = forward + backward - emissions
        # The log partition function, seen from each word: unlike the one total it shares the rounding of its word.
        total = torch.logsumexp(tags, -1, keepdim=True)
        tags = (tags - total).exp_().masked_fill_(padding, 0) * grad[:, None, None]
        forward = (forward - total).masked_fill_(padding, -torch.inf)
        backward = backward.masked_fill(padding, -torch.inf)[:, 1:]
        pairs = (forward[:, :-1].unsqueeze(-1) + backward.unsqueeze(-2)).add_(transitions).exp_()
        moves = torch.tensordot(grad, pairs.sum(1), 1)
        last = flip(tags, mask)[:, 0]
        return tags, tags[:, 0].sum(0), moves, last.sum(0), None
