"""Fits a linear chain on fixed tag scores: only the transitions and the scale of the scores are learned."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from blurb.heads._base import Problem
from blurb.heads.linear_chain_crf.model import Chain

MOST_EXAMPLES = 4_000
"""Number of sentences to fit on; the chain has about twenty parameters."""
STEPS = 40
AT_ONCE = 512


@dataclass(frozen=True)
class FittedChain:
    """A fitted chain.

    :param scale: factor of the tag scores
    """

    chain: Chain
    scale: Tensor

    @torch.no_grad()
    def decode(self, scores: Tensor, units: Tensor) -> tuple[Tensor, Tensor]:
        """Tags and their probabilities, (words,) each.

        :param scores: (words, tags)
        :param units: (words,) the sentence of each word; the words of a sentence are adjacent
        """
        tags = torch.zeros(len(scores), dtype=torch.int64)
        confidence = torch.zeros(len(scores))
        for places, mask in _batches_by_length(units):
            emissions = scores[places] * self.scale
            best = self.chain.decode(emissions, mask)
            shares = (
                self.chain.marginals(emissions, mask).gather(-1, best.unsqueeze(-1)).squeeze(-1)
            )
            tags[places[mask]], confidence[places[mask]] = best[mask], shares[mask]
        return tags, confidence


def fit_chain(
    scores: Tensor, tags: Tensor, units: Tensor, problem: Problem, constrained: bool
) -> FittedChain:
    """The maximum-likelihood chain on fixed scores, by L-BFGS.

    :param scores: (words, tags)
    :param tags: (words,)
    :param units: (words,) the sentence of each word
    """
    chain = Chain(len(problem.labels), problem.rules, constrained)
    scale = nn.Parameter(torch.ones(()))
    batches = _batches_by_length(units, MOST_EXAMPLES)
    words = sum(int(mask.sum()) for _, mask in batches)
    optimizer = torch.optim.LBFGS(
        [*chain.parameters(), scale],
        max_iter=STEPS,
        tolerance_change=1e-7,
        line_search_fn="strong_wolfe",
    )

    def closure() -> Tensor:
        optimizer.zero_grad()
        total = torch.zeros(())
        for places, mask in batches:
            found = -chain.log_likelihood(scores[places] * scale, tags[places], mask).sum() / words
            found.backward()  # type: ignore[no-untyped-call]
            total += found.detach()
        return total

    optimizer.step(closure)  # type: ignore[no-untyped-call]
    return FittedChain(chain.requires_grad_(False), scale.detach())


def _batches_by_length(units: Tensor, most: int = 0) -> list[tuple[Tensor, Tensor]]:
    """Batches of sentences of similar length: word indices (sentences, words) and their mask.

    :param most: maximum number of sentences, evenly spaced; 0 for all
    """
    _, lengths = torch.unique_consecutive(units, return_counts=True)
    starts = lengths.cumsum(0) - lengths
    chosen = torch.arange(0, len(lengths), max(1, -(-len(lengths) // most)) if most else 1)
    order = chosen[lengths[chosen].argsort(descending=True, stable=True)]
    batches = []
    for rows in torch.split(order, AT_ONCE):
        offsets = torch.arange(int(lengths[rows[0]]))
        mask = offsets < lengths[rows].unsqueeze(1)
        batches.append(((starts[rows].unsqueeze(1) + offsets).masked_fill(~mask, 0), mask))
    return batches
