"""Wall time of trials side by side, against a simulation."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from blurb.cost.model import wall


def simulated(waiting: list[int], workers: int) -> int:
    """Second by second: a free lane takes the next trial."""
    left, queue, now = [0] * workers, list(waiting), 0
    while queue or any(left):
        for lane, rest in enumerate(left):
            if not rest and queue:
                left[lane] = queue.pop(0)
        left = [max(0, rest - 1) for rest in left]
        now += 1
    return now


@given(st.lists(st.integers(1, 30), max_size=8), st.integers(1, 4))
def test_the_wall_time_is_that_of_a_simulation(waiting: list[int], workers: int) -> None:
    assert wall(waiting, workers) == simulated(waiting, workers)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=5), st.integers(2, 3))
def test_the_longest_first_is_within_a_third_of_the_best_order(waiting: list[int], workers: int) -> None:
    """Graham's bound for lists sorted by time: 4/3 - 1/(3 lanes)."""
    best = min(wall(order, workers) for order in itertools.permutations(waiting))
    assert best <= wall(sorted(waiting, reverse=True), workers) <= best * (4 / 3 - 1 / (3 * workers)) + 1e-9


def test_without_trials_nothing_is_waited_for() -> None:
    assert wall([], 3) == 0
