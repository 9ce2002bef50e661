"""A pass over the words from both ends at once, shared by the sequential algorithms."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

Reduce = Callable[[Tensor, int], Tensor]
"""`torch.logsumexp` over all ways to reach a tag, or `torch.amax` for the best of them."""


class Potentials(NamedTuple):
    """Scores of a chain; -inf means impossible.

    :param start_transitions: (tags,), for the tag of the first word
    :param transitions: (tags, tags), from the tag of the row to that of the column
    :param end_transitions: (tags,), for the tag of the last word
    """

    start_transitions: Tensor
    transitions: Tensor
    end_transitions: Tensor


def flip(values: Tensor, mask: Tensor) -> Tensor:
    """Reverses every sequence of (batch, words, ...); padding is arbitrary."""
    words = torch.arange(mask.shape[1], device=mask.device)
    places = (mask.sum(1, keepdim=True) - 1 - words).clamp(min=0)  # (batch, words)
    return values.gather(1, places.view(*places.shape, *[1] * (values.ndim - 2)).expand_as(values))


def sweep(emissions: Tensor, potentials: Potentials, mask: Tensor, steps: int, reduce: Reduce) -> Tensor:
    """Scores of the partial paths that end in each tag, including its emission.

    Both directions are rows of one batch, which halves the number of steps. As the reversed sequences start with their
    last words, no step needs the mask.

    :param emissions: (batch, words, tags), finite also in the padding
    :returns: (steps, 2, batch, tags): [t, 0] after the words 0..t, [t, 1] after the last t + 1 words
    """
    both = torch.stack([emissions, flip(emissions, mask)]).permute(2, 0, 3, 1)[:steps].contiguous()
    moves = torch.stack([potentials.transitions, potentials.transitions.t()]).unsqueeze(-1)  # (2, from, to, 1)
    state = both[0] + torch.stack([potentials.start_transitions, potentials.end_transitions]).unsqueeze(
        -1
    )  # (2, tags, batch)
    states = [state]
    for emission in both[1:].unbind(0):
        state = reduce(state.unsqueeze(2) + moves, 1) + emission
        states.append(state)
    # Within a step the batch comes last, so that the innermost loops are long.
    return torch.stack(states).transpose(2, 3).contiguous()
