"""`crf`: a linear chain over the tags of a sentence (Lafferty et al., 2001) above the linear layer."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from blurb.heads._base import Head, Problem
from blurb.heads.chain.model import Chain
from blurb.heads.linear import Linear


class Crf(Head):
    """Decoding obeys the tagging scheme of the problem.

    :param constrained: training obeys it as well
    """

    kinds = ("tokens",)

    def __init__(self, size: int, problem: Problem, dropout: float, constrained: bool = False) -> None:
        super().__init__(size, problem, dropout)
        self.emissions: nn.Module = Linear(size, problem, dropout)
        self.chain = Chain(len(problem.labels), problem.rules, constrained)

    def forward(self, features: Tensor, mask: Tensor) -> Tensor:
        """(batch, words, size) to the emissions, (batch, words, tags)."""
        scores: Tensor = self.emissions(features)
        return scores

    def loss(self, features: Tensor, targets: Tensor, mask: Tensor | None) -> Tensor:
        """Negative log-likelihood; divided by the words (`terms`), an emission weighs what it does in `linear`."""
        assert mask is not None
        emissions = self(features, mask)
        rows = mask[:, 0]  # a sentence may have no words
        if not rows.any():
            nothing: Tensor = emissions.sum() * 0
            return nothing
        return -self.chain.log_likelihood(emissions[rows], targets[rows], mask[rows]).sum()

    def predict(self, features: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """The best path, and the probability of each of its tags over all paths."""
        assert mask is not None
        emissions = self(features, mask)
        tags, sure = mask.new_zeros(mask.shape, dtype=torch.int64), emissions.new_zeros(mask.shape)
        rows = mask[:, 0]
        if rows.any():
            tags[rows] = self.chain.decode(emissions[rows], mask[rows])
            shares = self.chain.marginals(emissions[rows], mask[rows])
            sure[rows] = shares.gather(-1, tags[rows].unsqueeze(-1)).squeeze(-1)
        return tags, sure


HEAD = Crf
