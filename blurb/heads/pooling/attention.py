"""`attention`: a learned weighting of all sub-tokens, additive as in Bahdanau et al. (arXiv 1409.0473)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from blurb.heads.pooling._base import Extra, Pooling


class AttentionPooling(Pooling):
    """Sum of the last layer weighted by softmax(v . tanh(W h + b)) over the input, without padding."""

    def __init__(self, size: int, cls: int | None) -> None:
        super().__init__(size, cls)
        self.inner = nn.Linear(size, size)
        self.score = nn.Linear(size, 1, bias=False)

    def forward(
        self, hidden: Tensor, mask: Tensor, pooled: Extra = None, entities: Extra = None
    ) -> Tensor:
        return weighted_sum(hidden, self.weights(hidden, mask))

    def weights(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Weights of the sub-tokens, (batch, pieces); rows sum to 1, padding has weight 0."""
        scores: Tensor = self.score(torch.tanh(self.inner(hidden))).squeeze(-1)  # (batch, pieces)
        return masked_softmax(scores, mask)


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the sub-tokens, (batch, pieces), without padding."""
    return scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min).softmax(-1)


def weighted_sum(hidden: Tensor, weights: Tensor) -> Tensor:
    """The vectors (batch, pieces, size) summed with weights (batch, pieces), (batch, size)."""
    summed: Tensor = (weights.unsqueeze(-1) * hidden).sum(1)
    return summed


POOLING = AttentionPooling
