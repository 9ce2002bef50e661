"""The interface of poolings: from the vectors of all sub-tokens to one vector per input."""

from __future__ import annotations

from abc import ABC, abstractmethod

from torch import Tensor, nn


class Pooling(nn.Module, ABC):
    """Base class of poolings, which work in float32 outside autocast.

    :param size: hidden size of the encoder; the attribute `size` is that of the features
    :param cls: index of the classification token (0 or -1), None if the tokenizer adds none
    """

    needs_cls = False
    """Whether it needs a tokenizer with a classification token."""
    uses_pooler = False
    """Whether it uses the checkpoint's own pooler if there is one."""
    needs_entities = False
    """Whether it works for relation tasks only."""
    needs_pair = False
    """Whether it works for pairs of texts to compare only."""
    needs_markers = False
    """Whether it works for inputs with entity markers only."""

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
        :param entities: (batch, 2, 2), start and end (exclusive) of head and tail, or of the two texts of a pair, or
            None
        :returns: (batch, size)
        """
