"""Predicts when parallel trials end, before they start."""

from __future__ import annotations

import heapq
from collections.abc import Iterable


def wall(waiting: Iterable[float], workers: int) -> float:
    """Seconds until the last trial ends, if each free worker takes the next one.

    :param waiting: seconds of the trials, in their order of start
    :param workers: number of workers
    """
    free = [0.0] * workers
    for seconds in waiting:
        heapq.heappush(free, heapq.heappop(free) + seconds)
    return max(free)
