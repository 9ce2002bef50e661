"""`last`: the last sub-token, which in a decoder is the only one that has read the whole text."""

from __future__ import annotations

import torch
from torch import Tensor

from blurb.heads.pooling._base import Extra, Pooling


class Last(Pooling):
    """The vector of the last sub-token by the mask: the padding id may be that of the end of a text."""

    def forward(
        self, hidden: Tensor, mask: Tensor, pooled: Extra = None, entities: Extra = None
    ) -> Tensor:
        # Padding is on the right; an empty text is all padding
        last = (mask.sum(1) - 1).clamp(min=0)
        return hidden[torch.arange(len(hidden), device=hidden.device), last]


POOLING = Last
