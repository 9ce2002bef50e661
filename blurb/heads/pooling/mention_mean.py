"""`mention-mean`: each entity averaged over its sub-tokens, the two concatenated."""

from __future__ import annotations

from torch import Tensor

from blurb.heads.pooling.mention import Mention


class MentionMean(Mention):
    """(batch, 2 * size): head, then tail."""

    def pool(self, hidden: Tensor, inside: Tensor) -> Tensor:
        return (hidden * inside).sum(2) / inside.sum(2)


POOLING = MentionMean
