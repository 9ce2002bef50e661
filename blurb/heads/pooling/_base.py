"""The interface of poolings: from the vectors of all sub-tokens to one vector per input."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

Extra = Tensor | None
"""What only some encoders and tasks have beside the vectors of the sub-tokens."""


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
        self, hidden: Tensor, mask: Tensor, pooled: Extra = None, entities: Extra = None
    ) -> Tensor:
        """The features of each input.

        :param hidden: (batch, pieces, size), last layer
        :param mask: (batch, pieces), 1 for sub-tokens and 0 for padding
        :param pooled: (batch, size), output of the checkpoint's own pooler, or None
        :param entities: (batch, 2, 2), start and end (exclusive) of head and tail, or of the two texts of a pair, or
            None
        :returns: (batch, size)
        """


def word_vectors(hidden: Tensor, starts: Tensor, ends: Tensor, pooling: str) -> Tensor:
    """One vector per word, (batch, words, size).

    :param hidden: (batch, pieces, size), last layer
    :param starts: (batch, words), index of the first sub-token of each word
    :param ends: (batch, words), index after the last
    :param pooling: one of `blurb.inputs.words.POOLINGS`

    >>> hidden = torch.tensor([[[1.0], [2.0], [4.0]]])
    >>> starts, ends = torch.tensor([[0, 1]]), torch.tensor([[1, 3]])
    >>> [word_vectors(hidden, starts, ends, how).flatten().tolist() for how in ("first", "mean", "last")]
    [[1.0, 2.0], [1.0, 3.0], [1.0, 4.0]]
    """
    if pooling == "mean":
        places = torch.arange(hidden.shape[1], device=hidden.device)
        # (batch, words, pieces)
        inside = (places >= starts.unsqueeze(-1)) & (places < ends.unsqueeze(-1))
        return inside.to(hidden.dtype) @ hidden / (ends - starts).unsqueeze(-1)
    chosen = starts if pooling == "first" else ends - 1
    return hidden.gather(1, chosen.unsqueeze(-1).expand(-1, -1, hidden.shape[-1]))
