"""What a pooling does: the vectors of all sub-tokens in, one vector an input out."""

from __future__ import annotations

from abc import ABC, abstractmethod

from torch import Tensor, nn


class Pooling(nn.Module, ABC):
    """Base of the poolings, in float32 outside autocast.

    :param size: hidden size of the encoder; the attribute `size` is that of the features
    :param cls: place of the classification token (0 or -1, None where the tokenizer adds none)
    """

    needs_cls = False
    """Refused for tokenizers without a classification token."""
    uses_pooler = False
    """Takes the output of the checkpoint's own pooler where it holds one."""
    needs_entities = False
    """Serves relation tasks alone."""
    needs_pair = False
    """Serves pairs of texts that are to be compared alone."""
    needs_markers = False
    """Serves inputs with markers around the entities alone."""

    def __init__(self, size: int, cls: int | None) -> None:
        super().__init__()
        self.size = size
        self.cls = cls

    @abstractmethod
    def forward(
        self, hidden: Tensor, mask: Tensor, pooled: Tensor | None = None, entities: Tensor | None = None
    ) -> Tensor:
        """The features of each input.

        :param hidden: (batch, pieces, size), last layer
        :param mask: (batch, pieces), 1 for sub-tokens and 0 for padding
        :param pooled: (batch, size), output of the checkpoint's own pooler, or None
        :param entities: (batch, 2, 2), first place and place after the last of head and tail, or of the
            two texts of a pair, or None
        :returns: (batch, size)
        """
