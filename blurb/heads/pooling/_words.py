"""The featurizer of token tasks: one vector per word from those of its sub-tokens."""

from __future__ import annotations

import torch
from torch import Tensor


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
        inside = (places >= starts.unsqueeze(-1)) & (places < ends.unsqueeze(-1))  # (batch, words, pieces)
        return inside.to(hidden.dtype) @ hidden / (ends - starts).unsqueeze(-1)
    chosen = starts if pooling == "first" else ends - 1
    return hidden.gather(1, chosen.unsqueeze(-1).expand(-1, -1, hidden.shape[-1]))
