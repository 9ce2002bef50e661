"""`entity-start`: the vectors of the two opening markers, concatenated (Gu et al., table 14: "entity start")."""

from __future__ import annotations

import torch
from torch import Tensor

from blurb.heads.pooling._base import Extra, Pooling


class EntityStart(Pooling):
    """(batch, 2 * size): the opening marker of the head, then that of the tail."""

    needs_entities = True
    needs_markers = True

    def __init__(self, size: int, cls: int | None) -> None:
        super().__init__(2 * size, cls)

    def forward(
        self, hidden: Tensor, mask: Tensor, pooled: Extra = None, entities: Extra = None
    ) -> Tensor:
        assert entities is not None
        return hidden[
            torch.arange(len(hidden), device=hidden.device).unsqueeze(1), entities[..., 0]
        ].flatten(1)


POOLING = EntityStart
