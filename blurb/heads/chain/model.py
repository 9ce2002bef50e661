"""The linear chain as a module: likelihood of tags, best path, probability of each tag."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from blurb.heads.chain.checks import check
from blurb.heads.chain.partition import forward_backward, log_partition
from blurb.heads.chain.sweep import Potentials
from blurb.heads.chain.viterbi import viterbi

Bools = npt.NDArray[np.bool_]


class Rules(Protocol):
    """What a tagging scheme allows (`blurb.inputs.tagging.rules`)."""

    @property
    def starts(self) -> Bools:
        """(tags,): may be the first."""

    @property
    def transitions(self) -> Bools:
        """(tags, tags): the column's may follow the row's."""

    @property
    def ends(self) -> Bools:
        """(tags,): may be the last."""


class Chain(nn.Module):
    """Scores of first tags, neighbouring tags and last tags, in float32 (or float64) outside autocast.

    In all methods emissions are (batch, words, tags), mask is (batch, words), True for words, padding on the right;
    ValueError where they are not so (`checks.py`).

    :param tags: how many
    :param rules: what the tagging scheme allows; None allows everything. Decoding and marginals always obey
    :param constrained: training obeys as well, in transitions: a window cut out of a sentence may start or end inside
        an entity, so first and last tags stay free there
    """

    learning_rate_scale = 100.0
    """AdamW moves a weight by about the learning rate a step; 5e-5 of an encoder would leave these scores at 0."""

    def __init__(self, tags: int, rules: Rules | None = None, constrained: bool = False) -> None:
        super().__init__()
        self.constrained = constrained
        self.starts = nn.Parameter(torch.zeros(tags))
        self.transitions = nn.Parameter(torch.zeros(tags, tags))
        self.ends = nn.Parameter(torch.zeros(tags))
        for name in Potentials._fields:
            shape = self.get_parameter(name).shape
            allowed = torch.ones(shape, dtype=torch.bool) if rules is None else torch.from_numpy(getattr(rules, name))
            if allowed.shape != shape:
                raise ValueError(f"rules for {tuple(allowed.shape)} {name} and a chain with {tuple(shape)}.")
            self.register_buffer(f"no_{name}", ~allowed, persistent=False)

    def log_likelihood(self, emissions: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Log-probability of the tags, (batch,).

        :param tags: (batch, words); arbitrary in the padding
        :raises ValueError: also if training is constrained and the tags break the rules
        """
        check(emissions, mask, tags)
        with torch.autocast(emissions.device.type, enabled=False):
            emissions = _clean(emissions, mask)
            potentials = self._potentials(training=True)
            found = _score(emissions, potentials, tags, mask) - log_partition(emissions, potentials, mask)
        if self.constrained and not torch.isfinite(found).all():
            row = int((~found.isfinite()).nonzero()[0])
            raise ValueError(
                f"the tags of sequence {row} break the rules of the scheme: {tags[row][mask[row]].tolist()}."
            )
        return found

    @torch.no_grad()
    def decode(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """The most probable tags that the rules allow, (batch, words); 0 in the padding."""
        check(emissions, mask)
        with torch.autocast(emissions.device.type, enabled=False):
            tags, possible = viterbi(_clean(emissions, mask, shift=False), self._potentials(), mask)
        if not possible.all():
            row = int((~possible).nonzero()[0])
            raise ValueError(f"the rules allow no tags for sequence {row} of {int(mask[row].sum())} words.")
        return tags

    @torch.no_grad()
    def marginals(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """Probability of every tag at every word under the rules, (batch, words, tags); 0 in the padding."""
        check(emissions, mask)
        with torch.autocast(emissions.device.type, enabled=False):
            emissions = _clean(emissions, mask)
            forward, backward, _ = forward_backward(emissions, self._potentials(), mask)
            found = (forward + backward - emissions).softmax(-1)
        return found.masked_fill(~mask.unsqueeze(-1), 0)

    def _potentials(self, training: bool = False) -> Potentials:
        """The scores, -inf where the rules forbid."""
        obeyed = ["transitions"] if self.constrained else []
        forbidden = obeyed if training else Potentials._fields
        return Potentials(*(
            self.get_parameter(name).masked_fill(self.get_buffer(f"no_{name}"), -torch.inf)
            if name in forbidden
            else self.get_parameter(name)
            for name in Potentials._fields
        ))  # fmt: skip


def _clean(emissions: Tensor, mask: Tensor, shift: bool = True) -> Tensor:
    """At least float32, and 0 in the padding.

    A number added to all tags of a word changes no probability; near 0 the sums lose less to rounding.
    """
    wide = emissions if emissions.dtype == torch.float64 else emissions.float()
    if shift:
        wide = wide - wide.detach().logsumexp(-1, keepdim=True)
    return wide.masked_fill(~mask.unsqueeze(-1), 0)


def _score(emissions: Tensor, potentials: Potentials, tags: Tensor, mask: Tensor) -> Tensor:
    """Score of the path `tags`, (batch,)."""
    starts, transitions, ends = potentials
    tags = tags.masked_fill(~mask, 0)
    words = emissions.gather(-1, tags.unsqueeze(-1)).squeeze(-1).sum(1)  # 0 in the padding
    moves = transitions.flatten()[tags[:, :-1] * len(starts) + tags[:, 1:]]
    last = tags.gather(1, mask.sum(1, keepdim=True) - 1).squeeze(1)
    return words + moves.masked_fill(~mask[:, 1:], 0).sum(1) + starts[tags[:, 0]] + ends[last]
