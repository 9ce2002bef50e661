"""`cls-pooler`: [CLS] through the checkpoint's own pooler, as in transformers' sequence classifiers for BERT."""

from __future__ import annotations

from torch import Tensor

from blurb.heads.pooling._base import Extra
from blurb.heads.pooling.cls import Cls


class ClsPooler(Cls):
    """[CLS] through the dense layer and tanh of the checkpoint, or without them if it has none.

    LinkBERT's published numbers depend on its pooler, which was trained on the relation of two texts. Many checkpoints
    have an untrained pooler, with which learning is slower than without one, so this is not the default.
    """

    uses_pooler = True

    def forward(
        self, hidden: Tensor, mask: Tensor, pooled: Extra = None, entities: Extra = None
    ) -> Tensor:
        return super().forward(hidden, mask) if pooled is None else pooled


POOLING = ClsPooler
