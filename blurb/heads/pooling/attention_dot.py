"""`attention-dot`: a weighting of all sub-tokens by their product with the mean, multiplicative as in Luong et al.

In translation the query is the state of the decoder (arXiv 1508.04025, section 3.1). A text to classify has none;
here its mean asks, so that the weights hang on the text, and no parameter is added.
"""

from __future__ import annotations

import torch
from torch import Tensor

from blurb.heads.pooling._base import Extra, Pooling
from blurb.heads.pooling.attention import masked_softmax, weighted_sum
from blurb.heads.pooling.mean import Mean


class AttentionDot(Pooling):
    """Sum of the last layer weighted by softmax(m . h / sqrt(size)), m the mean over the input, without padding.

    Divided as in Vaswani et al. (arXiv 1706.03762): the vectors of an encoder are long, and one of them would get all.
    """

    def __init__(self, size: int, cls: int | None) -> None:
        super().__init__(size, cls)
        self.mean = Mean(size, cls)

    def query(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """(batch, size)."""
        mean: Tensor = self.mean(hidden, mask)
        return mean

    def forward(
        self, hidden: Tensor, mask: Tensor, pooled: Extra = None, entities: Extra = None
    ) -> Tensor:
        return weighted_sum(hidden, self.weights(hidden, mask))

    def weights(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Weights of the sub-tokens, (batch, pieces); rows sum to 1, padding has weight 0."""
        products = torch.einsum("bs,bps->bp", self.query(hidden, mask), hidden)
        return masked_softmax(products / hidden.shape[-1] ** 0.5, mask)


POOLING = AttentionDot
