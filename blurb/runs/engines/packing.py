"""Trials packed into jobs of a scheduler: many trials take seconds, and sites do not want thousands of short jobs."""

from __future__ import annotations

from collections.abc import Sequence


def pack(seconds: Sequence[float], limit: float, most: int = 0) -> list[list[int]]:
    """Indices of the trials of each part, the longest parts first.

    Trials go, the longest first, into the first part that has room (first-fit decreasing). One that is longer than the
    limit has a part of its own. Where nothing was predicted, a trial counts as a quarter of the limit.

    :param seconds: predicted seconds of each trial, 0 if not known
    :param limit: seconds of a part
    :param most: largest number of trials in a part; 0 is any number

    >>> pack([50, 10, 40, 200, 60], limit=100)
    [[3], [4, 2], [0, 1]]
    >>> pack([0, 0, 0, 0, 0], limit=100)
    [[0, 1, 2, 3], [4]]
    """
    expected = [one or limit / 4 for one in seconds]
    parts: list[list[int]] = []
    room: list[float] = []
    for index in sorted(range(len(expected)), key=lambda index: -expected[index]):
        fits = (
            place for place, left in enumerate(room)
            if left >= expected[index] and not (most and len(parts[place]) >= most)
        )  # fmt: skip
        place = next(fits, None)
        if place is None:
            parts.append([])
            room.append(limit)
            place = len(parts) - 1
        parts[place].append(index)
        room[place] -= expected[index]
    return sorted(parts, key=lambda part: -sum(expected[index] for index in part))
