"""One vector a word: first, mean and last sub-token against a plain loop, and which trials know the setting."""

import pytest
import torch

from blurb import formulations, tasks
from blurb.heads.pooling._base import word_vectors
from blurb.inputs.words import POOLINGS
from blurb.learners import DEFAULT
from blurb.messages.errors import UnknownName
from blurb.planning.trials import hashed_settings
from blurb.protocols import protocol


@pytest.mark.costly
@pytest.mark.parametrize("pooling", POOLINGS)
def test_against_a_loop(pooling: str) -> None:
    generator = torch.Generator().manual_seed(0)
    for _ in range(50):
        batch, subtokens, words = (
            int(torch.randint(1, 9, (), generator=generator)) for _ in range(3)
        )
        hidden = torch.randn(
            batch, subtokens, 5, generator=generator, dtype=torch.float64, requires_grad=True
        )
        start_transitions = torch.randint(0, subtokens, (batch, words), generator=generator)
        end_transitions = (
            start_transitions
            + 1
            + (
                torch.rand(batch, words, generator=generator) * (subtokens - start_transitions)
            ).long()
        )
        found = word_vectors(hidden, start_transitions, end_transitions, pooling)
        for row in range(batch):
            for word in range(words):
                mine = hidden[row, start_transitions[row, word] : end_transitions[row, word]]
                expected = {"first": mine[0], "mean": mine.mean(0), "last": mine[-1]}[pooling]
                assert torch.allclose(found[row, word], expected)
        assert torch.autograd.gradcheck(
            lambda x, s=start_transitions, e=end_transitions: word_vectors(x, s, e, pooling),
            (hidden,),
        )


def test_only_token_tasks_have_it_in_their_identity() -> None:
    for name, expected in (("bc5-chem", True), ("ebm-pico", True), ("gad", False), ("hoc", False)):
        settings = protocol.load_protocol_file("standard").settings(tasks.get(name), {}, 1)
        values = hashed_settings(formulations.bind(tasks.get(name), settings), DEFAULT)
        assert ("word_pooling" in values) is expected
        assert ("pooling" in values) is not expected


def test_another_name_is_refused() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'mean'"):
        protocol.load_protocol_file("standard").settings(
            tasks.get("bc5-chem"), {"word_pooling": "means"}, 1
        )
