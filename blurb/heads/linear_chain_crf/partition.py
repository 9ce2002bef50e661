"""The exact partition function of a linear chain by two algorithms.

Word by word from both ends at once, or as a balanced tree of products of matrices (Rush, 2020, "Torch-Struct",
section 4).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor


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
    total: Tensor = _Sequential.apply(emissions, mask, *potentials)  # type: ignore[no-untyped-call]
    return total


def forward_backward(
    emissions: Tensor, potentials: Potentials, mask: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Forward and backward variables, (batch, words, tags), and the log partition function, (batch,).

    Both variables include the emission of their own word.
    """
    states = partial_scores(
        emissions, potentials, mask, emissions.shape[1], torch.logsumexp
    ).transpose(0, 2)
    # states: (batch, 2, words, tags)
    forward, backward = states[:, 0], reverse_sequences(states[:, 1], mask)
    total = torch.logsumexp(potentials.start_transitions + backward[:, 0], -1)
    return forward, backward, total


class _Sequential(torch.autograd.Function):
    """The log partition function, whose gradient is the expected number of uses of each score."""

    @staticmethod
    def forward(ctx: Any, emissions: Tensor, mask: Tensor, *scores: Tensor) -> Tensor:
        potentials = Potentials(*scores)
        forward, backward, total = forward_backward(emissions, potentials, mask)
        ctx.save_for_backward(emissions, potentials.transitions, mask, forward, backward)
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
        last = reverse_sequences(tags, mask)[:, 0]
        return tags, None, tags[:, 0].sum(0), moves, last.sum(0)


class Potentials(NamedTuple):
    """Scores of a chain; -inf means impossible.

    :param start_transitions: (tags,), for the tag of the first word
    :param transitions: (tags, tags), from the tag of the row to that of the column
    :param end_transitions: (tags,), for the tag of the last word
    """

    start_transitions: Tensor
    transitions: Tensor
    end_transitions: Tensor


def reverse_sequences(values: Tensor, mask: Tensor) -> Tensor:
    """Reverses every sequence of (batch, words, ...); padding is arbitrary."""
    words = torch.arange(mask.shape[1], device=mask.device)
    places = (mask.sum(1, keepdim=True) - 1 - words).clamp(min=0)  # (batch, words)
    return values.gather(1, places.view(*places.shape, *[1] * (values.ndim - 2)).expand_as(values))


Reduce = Callable[[Tensor, int], Tensor]
"""`torch.logsumexp` over all ways to reach a tag, or `torch.amax` for the best of them."""


def partial_scores(
    emissions: Tensor, potentials: Potentials, mask: Tensor, steps: int, reduce: Reduce
) -> Tensor:
    """Scores of the partial paths that end in each tag, including its emission.

    Both directions are rows of one batch, which halves the number of steps. As the reversed sequences start with their
    last words, no step needs the mask.

    :param emissions: (batch, words, tags), finite also in the padding
    :returns: (steps, 2, batch, tags): [t, 0] after the words 0..t, [t, 1] after the last t + 1 words
    """
    both = (
        torch.stack([emissions, reverse_sequences(emissions, mask)])
        .permute(2, 0, 3, 1)[:steps]
        .contiguous()
    )
    # (2, from, to, 1)
    moves = torch.stack([potentials.transitions, potentials.transitions.t()]).unsqueeze(-1)
    # (2, tags, batch)
    state = both[0] + torch.stack(
        [potentials.start_transitions, potentials.end_transitions]
    ).unsqueeze(-1)
    states = [state]
    for emission in both[1:].unbind(0):
        state = reduce(state.unsqueeze(2) + moves, 1) + emission
        states.append(state)
    # Within a step the batch comes last, so that the innermost loops are long.
    return torch.stack(states).transpose(2, 3).contiguous()


def tree(emissions: Tensor, potentials: Potentials, mask: Tensor) -> Tensor:
    """(batch,); multiplies the matrices of adjacent words in log space, level by level.

    All shapes have tags first and the batch last, so that the innermost loops are long.
    """
    scores = emissions.permute(2, 1, 0).contiguous()  # (tags, words, batch)
    first = potentials.start_transitions.unsqueeze(-1) + scores[:, 0]
    last = potentials.end_transitions.unsqueeze(-1)
    if scores.shape[1] == 1:
        return torch.logsumexp(first + last, 0)
    # One matrix a word but the first: [from, to, word, batch].
    matrices = potentials.transitions[:, :, None, None] + scores[:, 1:]
    real = mask[:, 1:].t()  # (words - 1, batch); a matrix without words is padding
    while matrices.shape[2] > 1:
        even = matrices.shape[2] // 2 * 2
        left, right = matrices[:, :, 0:even:2], matrices[:, :, 1:even:2]
        product = torch.where(real[1:even:2], _log_product(left, right), left)
        # An odd one waits for the next level.
        matrices = torch.cat([product, matrices[:, :, even:]], 2)
        real = torch.cat([real[0:even:2], real[even:]])
    reached = torch.where(real[0], _log_product(first[None, :, None], matrices)[0, :, 0], first)
    return torch.logsumexp(reached + last, 0)


def _log_product(left: Tensor, right: Tensor) -> Tensor:
    """Log-space matrix product: (i, k, ...) and (k, j, ...) to (i, j, ...)."""
    product: Tensor = _LogProduct.apply(left, right)  # type: ignore[no-untyped-call]
    return product


class _LogProduct(torch.autograd.Function):
    """Log-space product with its own gradient: torch's logsumexp gives NaN if all terms are -inf (forbidden)."""

    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor) -> Tensor:
        product = torch.logsumexp(left.unsqueeze(2) + right, 1)
        ctx.save_for_backward(left, right, product)
        return product

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        left, right, product = ctx.saved_tensors
        reached = product.masked_fill(product == -torch.inf, 0)
        shares = (
            (left.unsqueeze(2) + right).sub_(reached.unsqueeze(1)).exp_().mul_(grad.unsqueeze(1))
        )
        return shares.sum(2), shares.sum(0)
