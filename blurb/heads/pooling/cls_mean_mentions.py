"""`cls-mean-mentions`: the classification token, the average of all sub-tokens, and the two entities averaged."""

from __future__ import annotations

import torch
from torch import Tensor

from blurb.heads.pooling._base import Extra, Pooling
from blurb.heads.pooling.cls_mean import ClsMean
from blurb.heads.pooling.mention_mean import MentionMean


class ClsMeanMentions(Pooling):
    """(batch, 4 * size): [CLS], mean, head, tail."""

    needs_cls = True
    needs_entities = True

    def __init__(self, size: int, cls: int | None) -> None:
        super().__init__(4 * size, cls)
        self.whole, self.mentions = ClsMean(size, cls), MentionMean(size, cls)

    def forward(
        self, hidden: Tensor, mask: Tensor, pooled: Extra = None, entities: Extra = None
    ) -> Tensor:
        return torch.cat(
            [self.whole(hidden, mask), self.mentions(hidden, mask, entities=entities)], 1
        )


POOLING = ClsMeanMentions
