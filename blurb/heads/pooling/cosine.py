"""`cosine`: cosine similarity of the means of the two texts, each over its own sub-tokens in the joint input.

Siamese encoders compare sentences in this way (Reimers and Gurevych, arXiv 1908.10084); here both are in one input and
attend to each other. With a single number per input, a small training set cannot fit noise.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from blurb.heads.pooling._base import Extra, Pooling
from blurb.heads.pooling.mention_mean import MentionMean


class Cosine(Pooling):
    """(batch, 1), from -1 to 1."""

    needs_pair = True

    def __init__(self, size: int, cls: int | None) -> None:
        super().__init__(1, cls)
        self.texts = MentionMean(size, cls)

    def forward(
        self, hidden: Tensor, mask: Tensor, pooled: Extra = None, entities: Extra = None
    ) -> Tensor:
        first, second = torch.chunk(self.texts(hidden, mask, entities=entities), 2, dim=1)
        return functional.cosine_similarity(first, second).unsqueeze(1)


POOLING = Cosine
