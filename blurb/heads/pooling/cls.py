"""`cls`, the standard: the [CLS] encoding as BERT's own classifiers take it."""

from __future__ import annotations

from torch import Tensor

from blurb.heads.pooling.cls_raw import ClsRaw


class Cls(ClsRaw):
    """[CLS] through the pooler (dense layer and tanh) that was pretrained with the checkpoint; raw where there is none.

    This is what Hugging Face's sequence classifiers do for BERT, and so what LinkBERT's published numbers stand on: its
    pooler was trained on the relation of two texts. A pooler that the checkpoint does not hold is never made up.
    """

    uses_pooler = True

    def forward(self, hidden: Tensor, mask: Tensor, pooled: Tensor | None) -> Tensor:
        return super().forward(hidden, mask, None) if pooled is None else pooled


POOLING = Cls
