"""`mention`: each entity max-pooled over its sub-tokens, the two concatenated (Gu et al., table 14: "mention")."""

from __future__ import annotations

import torch
from torch import Tensor

from blurb.heads.pooling._base import Extra, Pooling


class Mention(Pooling):
    """(batch, 2 * size): head, then tail. A dummy is a mention; markers are part of their mention."""

    needs_entities = True

    def __init__(self, size: int, cls: int | None) -> None:
        super().__init__(2 * size, cls)

    def pool(self, hidden: Tensor, inside: Tensor) -> Tensor:
        """One vector per mention.

        :param hidden: (batch, 1, pieces, size)
        :param inside: (batch, 2, pieces, 1), True for the sub-tokens of the mention
        :returns: (batch, 2, size)
        """
        return hidden.masked_fill(~inside, torch.finfo(hidden.dtype).min).amax(2)

    def forward(
        self, hidden: Tensor, mask: Tensor, pooled: Extra = None, entities: Extra = None
    ) -> Tensor:
        assert entities is not None
        places = torch.arange(hidden.shape[1], device=hidden.device)
        inside = (places >= entities[..., :1]) & (places < entities[..., 1:])  # (batch, 2, pieces)
        return self.pool(hidden.unsqueeze(1), inside.unsqueeze(-1)).flatten(1)


POOLING = Mention
