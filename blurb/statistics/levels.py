"""Levels of many tests: p-values corrected for their number, and a level cut into parts for looks one after another."""

from __future__ import annotations

import math
from collections.abc import Sequence


def holm(values: Sequence[float | None]) -> list[float | None]:
    """p-values corrected by Holm's step-down rule; unknown ones stay None and do not count.

    >>> holm([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    """
    order = sorted((p, place) for place, p in enumerate(values) if p is not None)
    corrected: list[float | None] = [None] * len(values)
    largest = 0.0
    for rank, (p, place) in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p))
        corrected[place] = round(largest, 12)
    return corrected


DECAY = 1.6
"""Of the parts without a stated number of looks: that of look k is in proportion to k to the power of minus this."""


def level_of_look(look: int, total: float, looks: int | None = None) -> float:
    """The level of a look.

    :param look: from 1
    :param total: level of all looks together
    :param looks: how many are planned, which get equal parts, and later ones 0; None for any number, whose parts decay

    >>> level_of_look(1, 0.05, 40), level_of_look(40, 0.05, 40), level_of_look(41, 0.05, 40)
    (0.00125, 0.00125, 0.0)
    >>> [round(level_of_look(look, 0.05), 5) for look in (1, 2, 40)]
    [0.02187, 0.00722, 6e-05]
    """
    from scipy.special import zeta

    if looks is None:
        # The zeta function is the sum of all k ** -DECAY.
        return total / (math.pow(look, DECAY) * float(zeta(DECAY)))
    return total / looks if look <= looks else 0.0


def level_spent(made: int, total: float, looks: int | None = None) -> float:
    """The sum of the levels of the looks that were made.

    >>> round(level_spent(12, 0.05, 40), 4), level_spent(40, 0.05, 40) <= 0.05, level_spent(1000, 0.05) < 0.05
    (0.015, True, True)
    """
    return min(total, math.fsum(level_of_look(look, total, looks) for look in range(1, made + 1)))
