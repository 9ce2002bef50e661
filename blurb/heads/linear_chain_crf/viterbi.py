"""The best path through a chain (Viterbi), searched from both ends."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from blurb.heads.linear_chain_crf.forward_backward import Potentials, flip, sweep


def viterbi(emissions: Tensor, potentials: Potentials, mask: Tensor) -> tuple[Tensor, Tensor]:
    """The best paths, and whether there is one.

    The best partial paths from the start and from the end of a sequence meet in its middle, which halves the number of
    steps in both passes.

    :param emissions: (batch, words, tags), finite also in the padding
    :returns: tags (batch, words), 0 in the padding; (batch,) False if the potentials forbid every path
    """
    batch, words, tags = emissions.shape
    rows = torch.arange(batch, device=mask.device)
    lengths = mask.sum(1)
    states = sweep(emissions, potentials, mask, words // 2 + 1, torch.amax)  # (steps, 2, batch, tags)
    steps = torch.arange(len(states), device=mask.device)
    middle = (lengths - 1) // 2
    meeting = torch.stack([middle, lengths // 2])  # (2, batch): the same word, counted from both ends
    both = states[meeting, torch.arange(2, device=mask.device).unsqueeze(1), rows].sum(0) - emissions[rows, middle]
    best, tag = both.max(-1, keepdim=True)  # (batch, 1)
    # Which tag came before each tag; beyond the middle a path stands still.
    moves = torch.stack([potentials.transitions.t(), potentials.transitions]).unsqueeze(1)
    before = (states[:-1].unsqueeze(-2) + moves).max(-1).indices  # (steps - 1, 2, batch, tags)
    beyond = steps[1:, None, None] > meeting
    before = torch.where(beyond.unsqueeze(-1), torch.arange(tags, device=mask.device), before)
    tag = tag.expand(2, batch, 1)
    path = [tag]
    for pointers in reversed(before.unbind(0)):
        tag = pointers.gather(-1, tag)
        path.append(tag)
    halves = torch.cat(path[::-1], -1)  # (2, batch, steps): from each end towards the middle
    halves = functional.pad(halves, (0, words - len(states)))
    first = torch.arange(words, device=mask.device) <= middle.unsqueeze(-1)
    found = torch.where(first, halves[0], flip(halves[1], mask))
    return found.masked_fill(~mask, 0), best.squeeze(-1) > -torch.inf
