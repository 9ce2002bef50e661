"""`cls-pooler`: [CLS] through the checkpoint's own pooler, as transformers' sequence classifiers take it for BERT."""

from __future__ import annotations

from torch import Tensor

from blurb.heads.pooling.cls import Cls


class ClsPooler(Cls):
    """[CLS] through the dense layer and tanh that the checkpoint holds; the vector itself where it holds none.

    LinkBERT's published numbers stand on it: its pooler was trained on the relation of two texts. Many checkpoints
    carry a pooler that nothing ever trained, which makes learning slower than without one, so it is not the standard.
    """

    uses_pooler = True

    def forward(
        self, hidden: Tensor, mask: Tensor, pooled: Tensor | None = None, entities: Tensor | None = None
    ) -> Tensor:
        return super().forward(hidden, mask) if pooled is None else pooled


POOLING = ClsPooler
