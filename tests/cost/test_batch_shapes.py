"""Batches of a pass. Oracle: the training loop's own batches, counted one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blurb.cost.inputs import InputLengths, Ints
from blurb.cost.learners import Batches, epoch_batches, epochs_of, pass_batches
from blurb.training.batches import training_batches
from blurb.training.loop import SUBTOKENS

MANY = np.random.default_rng(7).integers(5, 300, size=2_000)
SIZES = st.lists(st.integers(1, 600), min_size=1, max_size=60).map(np.array)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("lengths", [MANY[:50], MANY])
def test_a_pass_of_training_is_the_first_of_the_loop(lengths: Ints, seed: int) -> None:
    """Below 1,000 inputs nothing is sorted by length, above it is."""
    found = epoch_batches(lengths, 16, seed)
    batches = training_batches(lengths, 16, np.random.default_rng(seed))
    assert found.sizes.tolist() == [len(rows) for rows in batches]
    assert found.lengths.tolist() == [max(lengths[rows]) for rows in batches]
    assert found.subtokens == sum(len(rows) * max(lengths[rows]) for rows in batches)


@given(SIZES, st.integers(1, 20), st.integers(0, 3))
def test_every_input_is_trained_on_once_in_whole_batches(lengths: Ints, batch_size: int, seed: int) -> None:
    found = epoch_batches(lengths, batch_size, seed)
    assert found.sizes.sum() == len(lengths)
    assert len(found.sizes) == -(-len(lengths) // batch_size)
    assert found.lengths.max() == lengths.max()
    assert found.subtokens >= lengths.sum()


@given(SIZES, st.sampled_from(["cpu", "cuda", "another"]))
def test_prediction_fills_batches_up_to_the_device_s_room(lengths: Ints, device: str) -> None:
    found = pass_batches(lengths, device)
    assert found.sizes.sum() == len(lengths)
    assert np.all((found.sizes == 1) | (found.sizes * found.lengths <= SUBTOKENS.get(device, 8_192)))
    assert found.lengths.tolist() == sorted(found.lengths, reverse=True)


def test_a_part_of_a_pass_has_that_part_of_its_subtokens() -> None:
    whole = Batches(np.array([4, 2]), np.array([10, 30]))
    assert whole.subtokens == 100
    assert Batches(whole.sizes, whole.lengths, share=0.25).subtokens == 25


def test_the_rows_of_chosen_examples_are_all_of_their_rows() -> None:
    """The second example is long, and has three rows."""
    lengths = InputLengths(np.array([5, 9, 8, 7, 6]), np.array([0, 1, 1, 1, 2]), units=3)
    assert lengths.of(None).tolist() == [5, 9, 8, 7, 6]
    assert lengths.of(np.array([1, 2])).tolist() == [9, 8, 7, 6]
    assert lengths.of(np.array([0])).tolist() == [5]


@pytest.mark.parametrize(
    ("batches", "epochs", "updates", "begun", "share"),
    [
        (10, 3, 0, 3, 3.0),
        (10, 3, 30, 3, 3.0),
        (10, 3, 31, 3, 3.0),  # a limit beyond the end is none
        (10, 3, 25, 3, 2.5),
        (10, 3, 20, 2, 2.0),
        (10, 60, 7, 1, 0.7),
    ],
)
def test_a_limit_of_updates_may_end_within_a_pass(
    batches: int, epochs: int, updates: int, begun: int, share: float
) -> None:
    assert epochs_of(batches, epochs, updates) == (begun, pytest.approx(share))
