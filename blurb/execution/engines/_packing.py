"""Trials packed into jobs of a scheduler: many trials take seconds, and sites do not want thousands of short jobs."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence


def pack(seconds: Sequence[float], limit: float, most: int = 0) -> list[list[int]]:
    """Indices of the trials of each part, the longest parts first.

    Trials go, the longest first, into the emptiest part, or into a new one if that has no room (worst-fit decreasing).
    One that is longer than the limit has a part of its own. Where nothing was predicted, a trial counts as a quarter of
    the limit.

    :param seconds: predicted seconds of each trial, 0 if not known
    :param limit: seconds of a part
    :param most: largest number of trials in a part; 0 is any number

    >>> pack([50, 10, 40, 200, 60], limit=100)
    [[3], [0, 2], [4, 1]]
    >>> pack([0, 0, 0, 0, 0], limit=100)
    [[0, 1, 2, 3], [4]]
    """
    expected = [one or limit / 4 for one in seconds]
    parts: list[list[int]] = []
    emptiest: list[tuple[float, int]] = []  # seconds of a part that still takes trials, and its place
    for index in sorted(range(len(expected)), key=lambda index: -expected[index]):
        used, place = emptiest[0] if emptiest else (math.inf, 0)
        if used + expected[index] <= limit:
            heapq.heappop(emptiest)
        else:
            used, place = 0.0, len(parts)
            parts.append([])
        parts[place].append(index)
        if not most or len(parts[place]) < most:
            heapq.heappush(emptiest, (used + expected[index], place))
    return sorted(parts, key=lambda part: -sum(expected[index] for index in part))
