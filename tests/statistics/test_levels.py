"""Levels of many looks: sums worked by hand, a series summed to its end, and the package online-fdr where it is."""

from __future__ import annotations

import itertools
import math

import pytest

from blurb.statistics.levels import DECAY, level_of_look, level_spent


@pytest.mark.parametrize("looks", [1, 7, 40, 1000])
@pytest.mark.parametrize("total", [0.01, 0.05])
def test_stated_looks_share_the_level_and_nothing_is_left_after_them(
    looks: int, total: float
) -> None:
    levels = [level_of_look(look, total, looks) for look in range(1, looks + 1)]
    assert math.fsum(levels) == pytest.approx(total)
    assert set(levels) == {total / looks}
    assert level_of_look(looks + 1, total, looks) == 0.0


def test_any_number_of_looks_spends_no_more_than_the_level() -> None:
    """The rest of the series lies between two integrals: summed to N, it misses (N ** -0.6) / 0.6 at most."""
    count = 100_000
    levels = [level_of_look(look, 0.05) for look in range(1, count + 1)]
    missing = levels[0] * count ** (1 - DECAY) / (DECAY - 1)
    assert math.fsum(levels) < 0.05
    assert math.fsum(levels) + missing == pytest.approx(0.05, rel=1e-6)
    assert all(later < earlier for earlier, later in itertools.pairwise(levels))


@pytest.mark.parametrize("looks", [40, None])
def test_what_is_spent_is_the_sum(looks: int | None) -> None:
    assert level_spent(0, 0.05, looks) == 0.0
    for made in (1, 3, 40):
        assert level_spent(made, 0.05, looks) == pytest.approx(
            sum(level_of_look(look, 0.05, looks) for look in range(1, made + 1))
        )
    assert level_spent(60, 0.05, 40) == 0.05


def test_the_levels_of_stated_looks_are_those_of_online_fdr() -> None:
    """Not in the extras: the package is an oracle of this one test."""
    spending = pytest.importorskip("online_fdr.p_values.spending.alpha_spending")
    functions = pytest.importorskip("online_fdr.p_values.spending.functions.bonferroni")
    theirs = spending.AlphaSpending(alpha=0.05, spend_func=functions.Bonferroni(k=40))
    for look in range(1, 41):
        mine = level_of_look(look, 0.05, 40)
        assert theirs.test_one(mine * (0.99 if look % 2 else 1.01)) is bool(look % 2)
        assert theirs.alpha == pytest.approx(mine)
    with pytest.raises(ValueError, match="horizon"):
        theirs.test_one(0.0)
    assert level_of_look(41, 0.05, 40) == 0.0
