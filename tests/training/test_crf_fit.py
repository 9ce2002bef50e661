"""A chain above fixed scores. Oracles: all paths of short sentences, and the best tag of each word."""

import itertools

import numpy as np
import torch

from blurb.heads._base import Problem
from blurb.heads.linear_chain_crf.model import Chain
from blurb.training.crf_fit import FittedChain, _batches_by_length, fit_chain

PROBLEM = Problem("tokens", ("O", "B-x", "I-x"), "bio")


def sentences(count: int = 200) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Noisy scores of tags that keep the scheme, the tags, and the sentence of each word."""
    random = np.random.default_rng(0)
    tags, units = [], []
    for unit in range(count):
        last = 0
        for _ in range(random.integers(1, 9)):
            choices = [0, 1, 2] if last else [0, 1]
            last = int(random.choice(choices, p=[0.3, 0.1, 0.6] if last else [0.7, 0.3]))
            tags.append(last)
            units.append(unit)
    gold = torch.tensor(tags)
    scores = (
        torch.nn.functional.one_hot(gold, 3) * 1.0
        + torch.from_numpy(random.normal(size=(len(tags), 3))).float()
    )
    return scores, gold, torch.tensor(units)


def test_every_word_is_in_one_place() -> None:
    _, _, units = sentences()
    batches = _batches_by_length(units)
    places = torch.cat([places[mask] for places, mask in batches])
    assert torch.equal(places.sort().values, torch.arange(len(units)))
    for places, mask in batches:
        for row, kept in zip(places, mask, strict=True):
            assert len(set(units[row[kept]].tolist())) == 1
    assert sum(len(places) for places, _ in _batches_by_length(units, 50)) == 50


def test_a_chain_that_says_nothing_changes_nothing() -> None:
    scores, _, units = sentences()
    free = FittedChain(Chain(3).requires_grad_(False), torch.ones(()))
    tags, confidence = free.decode(scores, units)
    best, index = scores.softmax(-1).max(-1)
    assert torch.equal(tags, index)
    assert torch.allclose(confidence, best, atol=1e-5)


def test_the_fit_has_the_highest_likelihood_and_helps() -> None:
    scores, gold, units = sentences()
    found = fit_chain(scores, gold, units, PROBLEM, constrained=False)

    def likelihood(chained: FittedChain) -> float:
        """By all paths, of sentences of up to four words."""
        start_transitions, moves, ends = (
            chained.chain.get_parameter(name)
            for name in ("start_transitions", "transitions", "end_transitions")
        )
        total = 0.0
        for unit in range(200):
            rows = (units == unit).nonzero().squeeze(1)
            emissions = scores[rows] * chained.scale

            def score(path: tuple[int, ...], emissions: torch.Tensor = emissions) -> torch.Tensor:
                words = sum(emissions[place, tag] for place, tag in enumerate(path))
                return (
                    words
                    + start_transitions[path[0]]
                    + ends[path[-1]]
                    + sum(moves[a, b] for a, b in itertools.pairwise(path))
                )

            if len(rows) <= 4:
                every = torch.stack(
                    [score(path) for path in itertools.product(range(3), repeat=len(rows))]
                )
                total += float(score(tuple(gold[rows].tolist())) - every.logsumexp(0))
        return total

    plain = FittedChain(Chain(3, PROBLEM.rules).requires_grad_(False), torch.ones(()))
    assert likelihood(found) > likelihood(plain) + 10
    right = (found.decode(scores, units)[0] == gold).float().mean()
    assert right > (scores.argmax(-1) == gold).float().mean() + 0.05
    again = fit_chain(scores, gold, units, PROBLEM, constrained=False)
    assert torch.equal(again.scale, found.scale)
