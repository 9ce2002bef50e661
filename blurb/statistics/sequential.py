"""Levels of tests that are made one after another: the chance of any false alarm stays below one level.

Alpha-spending, or online Bonferroni: the level is cut into parts before the first look, and each look has its part,
whatever the others found. As the sum of the parts is at most the level, Boole's inequality bounds the chance of any
false alarm however the looks depend on each other; looks that share a baseline do. (Tian and Ramdas 2021, Stat. Methods
Med. Res. 30: 976, compare such rules; none that gains from independence is used here.)
"""

from __future__ import annotations

import math

DECAY = 1.6
"""Of the parts without a stated number of looks: that of look k is in proportion to k to the power of minus this."""


def level(look: int, total: float, looks: int | None = None) -> float:
    """The level of a look.

    :param look: from 1
    :param total: level of all looks together
    :param looks: how many are planned, which get equal parts, and later ones 0; None for any number, whose parts decay

    >>> level(1, 0.05, 40), level(40, 0.05, 40), level(41, 0.05, 40)
    (0.00125, 0.00125, 0.0)
    >>> [round(level(look, 0.05), 5) for look in (1, 2, 40)]
    [0.02187, 0.00722, 6e-05]
    """
    from scipy.special import zeta

    if looks is None:
        return total / (math.pow(look, DECAY) * float(zeta(DECAY)))  # the zeta function is the sum of all k ** -DECAY
    return total / looks if look <= looks else 0.0


def spent(made: int, total: float, looks: int | None = None) -> float:
    """The sum of the levels of the looks that were made.

    >>> round(spent(12, 0.05, 40), 4), spent(40, 0.05, 40) <= 0.05, spent(1000, 0.05) < 0.05
    (0.015, True, True)
    """
    return min(total, math.fsum(level(look, total, looks) for look in range(1, made + 1)))
