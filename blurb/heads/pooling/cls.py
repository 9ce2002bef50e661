"""`cls`, the standard: the last layer at the classification token (Gu et al., table 4: "[CLS]")."""

from __future__ import annotations

from torch import Tensor

from blurb.heads.pooling._base import Extra
from blurb.heads.pooling.last import Last


class Cls(Last):
    """The vector of [CLS], at whichever end the tokenizer puts it."""

    needs_cls = True

    def forward(
        self, hidden: Tensor, mask: Tensor, pooled: Extra = None, entities: Extra = None
    ) -> Tensor:
        return hidden[:, 0] if self.cls == 0 else super().forward(hidden, mask)


POOLING = Cls
