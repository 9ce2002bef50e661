"""`cls`, the standard: the last layer at the classification token (Gu et al., table 4: "[CLS]")."""

from __future__ import annotations

import torch
from torch import Tensor

from blurb.heads.pooling._base import Extra, Pooling


class Cls(Pooling):
    """The vector of [CLS], at whichever end the tokenizer puts it."""

    needs_cls = True

    def forward(self, hidden: Tensor, mask: Tensor, pooled: Extra = None, entities: Extra = None) -> Tensor:
        if self.cls == 0:
            return hidden[:, 0]
        last = mask.sum(1) - 1  # padding is on the right
        return hidden[torch.arange(len(hidden), device=hidden.device), last]


POOLING = Cls
