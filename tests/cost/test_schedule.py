"""Wall time of trials side by side, against a simulation; the time left, with a clock of our own."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blurb.cost import schedule
from blurb.cost.schedule import TimeLeft, wall
from blurb.execution.progress import TrialProgress

A, B, C = (Path(name) for name in "abc")


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


def test_lanes_that_are_busy_are_waited_for() -> None:
    assert wall([5, 5], 2, busy=[3, 10]) == 13
    assert wall([], 2, busy=[3, 10]) == 10
    assert wall([], 3) == 0


@pytest.fixture
def now() -> list[float]:
    return [0.0]


def test_the_time_left_before_anything_ran_is_the_prediction(now: list[float]) -> None:
    expected = {A: ("ner", 10.0), B: ("ner", 30.0), C: ("qa", 20.0)}
    assert TimeLeft(expected, 1, lambda: now[0]).left() == 60
    assert TimeLeft(expected, 2, lambda: now[0]).left() == 30


def test_trials_that_ended_correct_those_of_their_type_first(now: list[float]) -> None:
    left = TimeLeft({A: ("ner", 10.0), B: ("ner", 30.0), C: ("qa", 20.0)}, 1, lambda: now[0])
    left.end(A, 20.0)
    assert left.left() == 60 + 40  # twice as long, and so is what is of another type, as nothing else is known
    left.end(C, 10.0)
    assert left.left() == 60  # a question that ended sooner says nothing of entities
    left.end(B, None)
    assert left.left() == 0


def test_what_was_done_or_failed_corrects_nothing(now: list[float]) -> None:
    left = TimeLeft({A: ("ner", 10.0), B: ("ner", 30.0)}, 1, lambda: now[0])
    left.end(A, None)
    left.end(Path("not expected"), 100.0)
    assert left.left() == 30


def test_a_trial_that_runs_is_believed_more_the_further_it_is(now: list[float]) -> None:
    left = TimeLeft({A: ("ner", 100.0), B: ("ner", 50.0)}, 1, lambda: now[0])
    left.on_progress(A, TrialProgress())
    now[0] = 40.0
    assert left.left() == 60 + 50
    left.on_progress(A, TrialProgress(done=10, total=100))  # it would take 400
    assert left.left() == pytest.approx(0.9 * 100 + 0.1 * 400 - 40 + 50)
    now[0] = 80.0
    left.on_progress(A, TrialProgress(done=80, total=100))  # it takes 100, as predicted
    assert left.left() == pytest.approx(20 + 50)
    now[0] = 300.0
    left.on_progress(A, TrialProgress(done=100, total=100))
    assert left.left() == 50  # never below nothing
    left.end(A, 300.0)
    assert left.left() == 150
    left.on_progress(A, TrialProgress(done=100, total=100))  # told late
    assert left.left() == 150


def test_a_trial_nobody_expected_counts_by_its_steps(now: list[float]) -> None:
    left = TimeLeft({}, 1, lambda: now[0])
    left.on_progress(A, TrialProgress())
    assert left.left() == 0
    now[0] = 10.0
    left.on_progress(A, TrialProgress(done=1, total=4))
    assert left.left() == 30


@pytest.mark.parametrize("workers", [1, 4])
def test_the_sum_of_many_trials_is_as_good_as_their_schedule(
    workers: int, now: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Oracle: the same trials worked out one by one."""
    rng = random.Random(1)
    expected = {Path(str(number)): (rng.choice(["ner", "qa"]), rng.uniform(1, 60)) for number in range(200)}
    exact, summed = (TimeLeft(expected, workers, lambda: now[0]) for _ in range(2))
    for number, (trial, (_, seconds)) in enumerate(expected.items()):
        for one in (exact, summed):
            one.on_progress(trial, TrialProgress(done=1, total=2))
        now[0] += 1
        want = exact.left()
        monkeypatch.setattr(schedule, "MANY", 50)
        assert summed.left() == pytest.approx(want, rel=0.01 if number < 150 else 0.1, abs=1e-6)
        monkeypatch.undo()
        took = None if number % 7 == 0 else seconds * rng.uniform(0.5, 3)
        for one in (exact, summed):
            one.end(trial, took)
    assert summed.left() == 0
