"""The partition function as a pairwise product of matrices (Rush, 2020, "Torch-Struct", section 4)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from blurb.heads.linear_chain_crf.forward_backward import Potentials


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
        product = torch.where(real[1:even:2], _product(left, right), left)
        # An odd one waits for the next level.
        matrices = torch.cat([product, matrices[:, :, even:]], 2)
        real = torch.cat([real[0:even:2], real[even:]])
    reached = torch.where(real[0], _product(first[None, :, None], matrices)[0, :, 0], first)
    return torch.logsumexp(reached + last, 0)


def _product(left: Tensor, right: Tensor) -> Tensor:
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
        shares = (left.unsqueeze(2) + right).sub_(reached.unsqueeze(1)).exp_().mul_(grad.unsqueeze(1))
        return shares.sum(2), shares.sum(0)
