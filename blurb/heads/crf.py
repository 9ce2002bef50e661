"""`crf`: a linear-chain CRF over the tags of a sentence (Lafferty et al., 2001) on top of a linear layer."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from blurb.heads._base import Head, Problem
from blurb.heads.linear import Linear
from blurb.heads.linear_chain_crf.model import Chain


class CRF(Head):
    """A linear-chain CRF; decoding enforces the tagging scheme.

    :param constrained: whether training enforces it, too
    """

    kinds = ("tokens",)

    def __init__(
        self, size: int, problem: Problem, dropout: float, constrained: bool = False
    ) -> None:
        super().__init__(size, problem, dropout)
        self.emissions: nn.Module = Linear(size, problem, dropout)
        self.chain = Chain(len(problem.labels), problem.rules, constrained)

    def forward(self, features: Tensor, mask: Tensor) -> Tensor:
        """(batch, words, size) to the emissions, (batch, words, tags)."""
        scores: Tensor = self.emissions(features)
        return scores

    def check_targets(self, targets: Tensor, mask: Tensor | None) -> None:
        assert mask is not None
        self.chain.check_tags(targets, mask)

    def loss(self, features: Tensor, targets: Tensor, mask: Tensor | None) -> Tensor:
        """Negative log-likelihood; divided by the words (`num_targets`), emissions weigh the same as in `linear`."""
        assert mask is not None
        found = self.chain.log_likelihood(
            self(features, mask), targets.masked_fill(~mask, 0), _with_a_word(mask)
        )
        return -found.masked_fill(~mask[:, 0], 0).sum()

    def predict(self, features: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """The best path, and the probability of each of its tags over all paths."""
        return self.predict_windows(features, mask, None)

    def predict_windows(
        self, features: Tensor, mask: Tensor | None, inside: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        assert mask is not None
        emissions, read = self(features, mask), _with_a_word(mask)
        tags = self.chain.decode(emissions, read, inside)
        confidence = (
            self.chain.marginals(emissions, read, inside).gather(-1, tags.unsqueeze(-1)).squeeze(-1)
        )
        return tags.masked_fill(~mask, 0), confidence.masked_fill(~mask, 0)


def _with_a_word(mask: Tensor) -> Tensor:
    """The mask, with one word in sentences without words: a chain needs a word, and selecting rows would make a GPU
    wait. The result for that word is never used."""
    return torch.cat([torch.ones_like(mask[:, :1]), mask[:, 1:]], 1)


HEAD = CRF
