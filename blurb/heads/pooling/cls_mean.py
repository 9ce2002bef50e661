"""`cls-mean`: the classification token and the average of all sub-tokens, concatenated."""

from __future__ import annotations

import torch
from torch import Tensor

from blurb.heads.pooling._base import Extra, Pooling
from blurb.heads.pooling.cls import Cls
from blurb.heads.pooling.mean import Mean


class ClsMean(Pooling):
    """(batch, 2 * size): [CLS], then the mean."""

    needs_cls = True

    def __init__(self, size: int, cls: int | None) -> None:
        super().__init__(2 * size, cls)
        self.cls_vector, self.mean = Cls(size, cls), Mean(size, cls)

    def forward(
        self, hidden: Tensor, mask: Tensor, pooled: Extra = None, entities: Extra = None
    ) -> Tensor:
        return torch.cat([self.cls_vector(hidden, mask), self.mean(hidden, mask)], 1)


POOLING = ClsMean
