"""Trials in parts: oracle is brute force over what a packing must hold."""

import pytest
from hypothesis import given, strategies as st

from blurb.extensions.clusters._slurm_script import arrays, pack_trials


@pytest.mark.parametrize(
    ("seconds", "most", "parts"),
    [
        ([50, 10, 40, 200, 60], {}, [[3], [0, 2], [4, 1]]),
        ([0, 0, 0, 0, 0], {}, [[0, 1, 2, 3], [4]]),
        ([1, 1, 1], {"most": 2}, [[0, 1], [2]]),
        ([], {}, []),
    ],
)
def test_examples(seconds: list[int], most: dict[str, int], parts: list[list[int]]) -> None:
    assert pack_trials(seconds, limit=100, **most) == parts


@given(st.lists(st.floats(0, 500), max_size=40), st.floats(1, 200), st.integers(0, 5))
def test_every_trial_is_in_one_part_that_has_room(
    seconds: list[float], limit: float, most: int
) -> None:
    parts = pack_trials(seconds, limit, most)
    assert sorted(index for part in parts for index in part) == list(range(len(seconds)))
    expected = [one or limit / 4 for one in seconds]
    totals = [sum(expected[index] for index in part) for part in parts]
    assert all(
        total <= limit * (1 + 1e-9) or len(part) == 1
        for total, part in zip(totals, parts, strict=True)
    )
    assert all(0 < len(part) <= (most or len(seconds)) for part in parts)
    assert totals == sorted(totals, reverse=True)
    if not most:  # no two parts could be one
        assert sum(total <= limit / 2 for total in totals) <= 1


@given(st.lists(st.integers(1, 50), max_size=60), st.integers(1, 200), st.integers(0, 5))
def test_each_trial_goes_into_the_emptiest_part_that_has_room(
    seconds: list[int], limit: int, most: int
) -> None:
    """Oracle: worst-fit decreasing by looking at all parts; whole numbers, so that sums do not round."""
    parts: list[list[int]] = []
    used: list[int] = []
    for index in sorted(range(len(seconds)), key=lambda index: -seconds[index]):
        fits = [at for at, total in enumerate(used) if total + seconds[index] <= limit]
        fits = [at for at in fits if len(parts[at]) < (most or 100)]
        if not fits:
            parts.append([])
            used.append(0)
            fits = [len(parts) - 1]
        place = min(fits, key=lambda at: (used[at], at))
        parts[place].append(index)
        used[place] += seconds[index]
    assert pack_trials(seconds, limit, most) == sorted(
        parts, key=lambda part: -sum(seconds[index] for index in part)
    )


def test_blocks_of_an_array() -> None:
    assert arrays(2500, 0, 1001) == [
        ("0-1000", range(1001)),
        ("0-1000", range(1001, 2002)),
        ("0-497", range(2002, 2500)),
    ]
    assert arrays(3, 2, 2) == [("0-1%2", range(2)), ("0-0%2", range(2, 3))]
