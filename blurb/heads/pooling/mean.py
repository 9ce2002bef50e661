"""`mean`: the mean over all sub-tokens; also for encoders without a classification token, such as T5."""

from __future__ import annotations

from torch import Tensor

from blurb.heads.pooling._base import Extra, Pooling


class Mean(Pooling):
    """Mean of the last layer over the input, without padding."""

    def forward(
        self, hidden: Tensor, mask: Tensor, pooled: Extra = None, entities: Extra = None
    ) -> Tensor:
        weights = mask.to(hidden.dtype).unsqueeze(-1)  # (batch, pieces, 1)
        # An empty text is all padding
        return (hidden * weights).sum(1) / weights.sum(1).clamp(min=1)


POOLING = Mean
