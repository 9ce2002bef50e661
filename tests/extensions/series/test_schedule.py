"""Which checkpoint comes next: on made-up curves the knee is found with a third of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from blurb.extensions.series.conduct import following

STEPS = [round(100 * 1.25**place) for place in range(30)]


def _looked(
    curve: Callable[[int], float], count: int, steps: list[int] = STEPS
) -> dict[int, float]:
    known: dict[int, float] = {}
    while len(known) < count and (step := following(steps, known)) is not None:
        assert step not in known
        known[step] = curve(step)
    return known


def test_first_last_and_geometric_middle() -> None:
    looked = list(_looked(lambda step: 1.0, 3, [100, 300, 1_000, 3_000, 10_000]))
    assert looked == [100, 10_000, 1_000]


@pytest.mark.parametrize("knee", [4, 9, 15, 22, 26])
def test_a_knee_is_found_with_a_third_of_the_checkpoints(knee: int) -> None:
    """Flat until the knee, then rising: after ten of thirty looks both its neighbours are known."""

    def curve(step: int) -> float:
        return 50 + 20 * max(0.0, math.log(step / STEPS[knee]))

    looked = _looked(curve, 10)
    assert {STEPS[knee - 1], STEPS[knee], STEPS[knee + 1]} & set(looked)
    near = sorted(looked, key=lambda step: abs(STEPS.index(step) - knee))[:2]
    assert all(abs(STEPS.index(step) - knee) <= 1 for step in near)


@pytest.mark.parametrize("seed", range(5))
def test_a_step_down_is_found_in_noise(seed: int) -> None:
    noise = np.random.default_rng(seed).normal(scale=0.3, size=len(STEPS))

    def curve(step: int) -> float:
        place = STEPS.index(step)
        return 60 + noise[place] - (8 if place >= 17 else 0)

    looked = sorted(STEPS.index(step) for step in _looked(curve, 10))
    assert any(
        low >= 15 and high <= 19 and low < 17 <= high for low, high in itertools.pairwise(looked)
    )


def test_all_are_looked_at_in_the_end() -> None:
    assert sorted(_looked(lambda step: math.sin(step), 99)) == STEPS
    assert following([], {}) is None
    assert _looked(float, 5, [7]) == {7: 7.0}
