"""Trials packed into jobs of a scheduler: many trials take seconds, and sites do not want thousands of short jobs."""

from __future__ import annotations

import math
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
    room = _Room(len(expected))
    for index in sorted(range(len(expected)), key=lambda index: -expected[index]):
        place = room.first(expected[index])
        if place is None:
            parts.append([])
            place = len(parts) - 1
            room[place] = limit
        parts[place].append(index)
        full = most and len(parts[place]) >= most
        room[place] = FULL if full else room[place] - expected[index]
    return sorted(parts, key=lambda part: -sum(expected[index] for index in part))


FULL = -math.inf


class _Room:
    """The room of each part, as a tree of largest values, in which the first part with enough room is found at once.

    :param count: the largest number of parts
    """

    def __init__(self, count: int) -> None:
        self.leaves = 1 << max(0, count - 1).bit_length()
        self.largest = [FULL] * (2 * self.leaves)  # the children of node n are 2n and 2n + 1; the root is 1

    def __getitem__(self, place: int) -> float:
        return self.largest[self.leaves + place]

    def __setitem__(self, place: int, room: float) -> None:
        node = self.leaves + place
        self.largest[node] = room
        while node := node // 2:
            self.largest[node] = max(self.largest[2 * node], self.largest[2 * node + 1])

    def first(self, least: float) -> int | None:
        """The first part with so much room, None if none has it."""
        if self.largest[1] < least:
            return None
        node = 1
        while node < self.leaves:
            node = 2 * node if self.largest[2 * node] >= least else 2 * node + 1
        return node - self.leaves
