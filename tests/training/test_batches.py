"""Which inputs go together, and the tensors they become."""

from itertools import combinations, pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from blurb.inputs.features import Features, Ragged
from blurb.training.batches import (
    SORT_FROM,
    Batch,
    collate_batch,
    copy_at_once,
    prediction_batches,
    training_batches,
)
from tests.training import tiny


def _lengths(size: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(1, 300, size=size)


@settings(max_examples=60)
@given(size=st.integers(1, 3000), batch_size=st.integers(1, 64), seed=st.integers(0, 5))
def test_every_input_is_in_one_batch_and_all_batches_but_one_are_full(
    size: int, batch_size: int, seed: int
) -> None:
    batches = training_batches(_lengths(size), batch_size, np.random.default_rng(seed))
    assert sorted(np.concatenate(batches).tolist()) == list(range(size))
    sizes = sorted(len(batch) for batch in batches)
    assert len(batches) == -(-size // batch_size)
    assert all(number == batch_size for number in sizes[1:])
    assert 1 <= sizes[0] <= batch_size


def test_small_data_is_drawn_at_random() -> None:
    size, rng = SORT_FROM - 1, np.random.default_rng(3)
    order = rng.permutation(size)
    expected = [order[start : start + 16].tolist() for start in range(0, size, 16)]
    assert sorted(
        [batch.tolist() for batch in training_batches(_lengths(size), 16, np.random.default_rng(3))]
    ) == sorted(expected)


def _padded(lengths: np.ndarray, batches: list[np.ndarray]) -> float:
    return sum(len(batch) * int(lengths[batch].max()) for batch in batches) / int(lengths.sum())


def test_sorting_saves_most_of_the_padding() -> None:
    lengths = _lengths(4_000)
    sorted_ = training_batches(lengths, 16, np.random.default_rng(0))
    order = np.random.default_rng(0).permutation(4_000)
    random = [order[start : start + 16] for start in range(0, 4_000, 16)]
    assert _padded(lengths, sorted_) < 1.06
    assert _padded(lengths, random) > 1.7


def _mates(batches: list[np.ndarray]) -> set[tuple[int, int]]:
    return {pair for batch in batches for pair in combinations(sorted(batch.tolist()), 2)}


@pytest.mark.parametrize("size", [500, 1_000, 4_000])
def test_batch_mates_change_from_epoch_to_epoch(size: int) -> None:
    rng, lengths = np.random.default_rng(0), np.random.default_rng(1).integers(5, 60, size=size)
    first, second = (_mates(training_batches(lengths, 16, rng)) for _ in range(2))
    assert len(first & second) < 0.2 * len(first)


def test_batches_come_in_random_order_of_length() -> None:
    lengths = _lengths(4_000)
    longest = [
        int(lengths[batch].max())
        for batch in training_batches(lengths, 16, np.random.default_rng(0))
    ]
    falling = [after < before for before, after in pairwise(longest)]
    assert 0.4 < np.mean(falling) < 0.6  # within a mega-batch all of them would fall


def test_the_batches_follow_from_the_generator() -> None:
    one, same, other = (
        [
            batch.tolist()
            for batch in training_batches(_lengths(1_500), 32, np.random.default_rng(seed))
        ]
        for seed in (1, 1, 2)
    )
    assert one == same != other


@settings(max_examples=100)
@given(lengths=st.lists(st.integers(0, 50), max_size=60), subtokens=st.integers(1, 200))
def test_prediction_batches_hold_every_input_within_the_budget(
    lengths: list[int], subtokens: int
) -> None:
    batches = prediction_batches(np.array(lengths, dtype=np.int64), subtokens)
    assert sorted(row for batch in batches for row in batch.tolist()) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[row] for row in batch) <= subtokens
    longest = [max(lengths[row] for row in batch) for batch in batches]
    assert longest == sorted(longest, reverse=True)


def test_collate_pads_on_the_right() -> None:
    features = Features(
        ids=Ragged.of([[7, 8, 9], [5]]),
        token_type_ids=Ragged.of([[0, 1, 1], [1]]),
        example_index=np.arange(2),
    )
    batch = collate_batch(features, np.array([1, 0]), 4, np.array([10, 20]))
    assert batch.ids.tolist() == [[5, 4, 4], [7, 8, 9]]
    assert batch.mask.tolist() == [[1, 0, 0], [1, 1, 1]]
    assert batch.token_type_ids.tolist() == [[1, 0, 0], [0, 1, 1]]
    assert batch.targets.tolist() == [20, 10]
    assert batch.word_starts is None
    assert batch.word_mask is None


def test_collate_takes_the_targets_of_the_words_of_each_window() -> None:
    features = Features(
        ids=Ragged.of([[1, 2, 3], [1, 2], [1]]),
        example_index=np.array([0, 0, 1]),
        word_ids=Ragged.of([[0, 1], [3], []]),
        word_starts=Ragged.of([[0, 2], [1], []]),
        word_ends=Ragged.of([[2, 3], [2], []]),
    )
    batch = collate_batch(features, np.arange(3), 0, Ragged.of([[10, 11, 12, 13], [20]]))
    assert batch.token_type_ids is None
    assert batch.word_starts.tolist() == [[0, 2], [1, 0], [0, 0]]
    assert batch.word_ends.tolist() == [[2, 3], [2, 1], [1, 1]]
    assert batch.word_mask.tolist() == [[True, True], [True, False], [False, False]]
    assert batch.targets.tolist() == [[10, 11], [13, 0], [0, 0]]


def test_collate_keeps_the_kind_of_numbers() -> None:
    inputs = tiny.features(4)
    assert (
        _targets(collate_batch(inputs, np.arange(4), 0, np.ones((4, 3), dtype=np.float32))).dtype
        == torch.float32
    )
    assert (
        _targets(collate_batch(inputs, np.arange(4), 0, np.ones(4, dtype=np.int64))).dtype
        == torch.int64
    )
    assert collate_batch(inputs, np.arange(4), 0).targets is None


def _targets(batch: Batch) -> torch.Tensor:
    return batch.targets


DTYPES = st.sampled_from([torch.int64, torch.float32, torch.bool, torch.float64])


@given(kinds=st.lists(st.tuples(DTYPES, st.integers(1, 5), st.integers(0, 5)), min_size=1))
def test_a_copy_of_a_batch_is_one_piece_of_memory_with_the_same_values(
    kinds: list[tuple[torch.dtype, int, int]],
) -> None:
    tensors = {
        str(at): torch.arange(rows * columns).view(rows, columns).remainder(3).to(dtype)
        for at, (dtype, rows, columns) in enumerate(kinds)
    }
    copies = copy_at_once(tensors, torch.device("cpu"))
    assert copies.keys() == tensors.keys()
    for name, value in tensors.items():
        assert copies[name].dtype == value.dtype
        assert torch.equal(copies[name], value)
    assert len({value.untyped_storage().data_ptr() for value in copies.values()}) == 1


def test_a_batch_on_a_device_has_every_field() -> None:
    inputs = tiny.features(7, words=True)
    batch = collate_batch(inputs, np.arange(7), tiny.PAD, tiny.targets(inputs))
    moved = batch.to(torch.device("meta"))
    for name, value in vars(batch).items():
        other = getattr(moved, name)
        assert (other is None) == (value is None)
        if value is not None:
            assert (other.shape, other.dtype, other.device.type) == (
                value.shape,
                value.dtype,
                "meta",
            )
    assert batch.to(torch.device("cpu")) is batch
