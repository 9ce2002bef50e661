"""Windows over long sentences, against the rule written as brute force."""

from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from blurb.inputs.words import windows


@pytest.mark.parametrize(
    ("size", "room", "cuts"),
    [
        (0, 5, [(0, 0, 0, 0)]),
        (5, 5, [(0, 5, 0, 5)]),
        # Ten pieces, room for six, steps of three: 0-6, 3-9 and 4-10; the overlaps are 3-6 and 4-9.
        (10, 6, [(0, 6, 0, 4), (3, 9, 4, 6), (4, 10, 6, 10)]),
    ],
)
def test_worked_examples(size: int, room: int, cuts: list[tuple[int, int, int, int]]) -> None:
    assert windows(size, room) == cuts


@settings(max_examples=300)
@given(size=st.integers(1, 400), room=st.integers(1, 130))
def test_every_piece_is_owned_once_by_a_window_that_holds_it(size: int, room: int) -> None:
    cuts = windows(size, room)
    assert [
        piece for start, end, own_start, own_end in cuts for piece in range(own_start, own_end)
    ] == list(range(size))
    for start, end, own_start, own_end in cuts:
        assert 0 <= start <= own_start <= own_end <= end <= size
        assert end - start == min(room, size)
    assert [cut[0] for cut in cuts] == sorted({cut[0] for cut in cuts})


@settings(max_examples=200)
@given(size=st.integers(1, 300), room=st.integers(2, 100))
def test_neighbouring_windows_overlap_by_at_least_half(size: int, room: int) -> None:
    for before, after in pairwise(windows(size, room)):
        assert before[1] - after[0] >= room - room // 2


@settings(max_examples=150)
@given(size=st.integers(1, 200), room=st.integers(2, 60))
def test_a_piece_in_an_overlap_belongs_to_the_window_in_whose_middle_it_lies(
    size: int, room: int
) -> None:
    """Brute force: of two neighbours that both hold a piece, its owner leaves it at least as far from its edge."""
    for (a_start, a_end, *_a), (b_start, _b_end, b_own, _o) in pairwise(windows(size, room)):
        assert a_start < b_start
        for piece in range(b_start, a_end):
            after_in_first = a_end - 1 - piece  # pieces of context to the right in the first window
            before_in_second = piece - b_start  # and to the left in the second
            if piece < b_own:
                assert after_in_first >= before_in_second
            else:
                assert before_in_second >= after_in_first
