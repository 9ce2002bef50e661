"""Planned seeds of rows: against the noncentral t of SciPy, Stein's formula, and sums worked by hand."""

import math
import statistics
from typing import Any

import pytest
from scipy import stats

import blurb
from blurb.messages.errors import BlurbError, SettingsError
from blurb.planning.seeds import Aim, SeedLine, plan_seeds
from blurb.results.score import DATASETS, SCORE, dataset_weights
from blurb.store.store import Store
from tests.results import invented
from tests.results.played import play

GAD, DDI = [80.0, 81.2, 79.1, 80.4, 80.9], [70.0, 70.5, 70.1]


def planned(aim: Aim, *rows: Any) -> dict[str, SeedLine]:
    return {
        line["name"]: line
        for line in plan_seeds([invented.row("m", one) for one in rows], aim, "test")
    }


def quantiles(degrees: float, power: float = 0.8) -> float:
    return float(stats.t.ppf(0.975, degrees) + stats.t.ppf(power, degrees))


def test_each_dataset_by_the_variance_of_its_own_runs() -> None:
    lines = planned(Aim(1.5), {"gad": GAD, "ddi": DDI})
    assert list(lines) == ["ddi", "gad"]  # in the paper's order
    for name, scores in (("gad", GAD), ("ddi", DDI)):
        line, degrees = lines[name], len(scores) - 1
        assert line["sd"] == pytest.approx(statistics.stdev(scores), abs=1e-6)
        assert (line["degrees_of_freedom"], line["seeds_there"]) == (degrees, len(scores))
        asked = 2 * statistics.variance(scores) * (quantiles(degrees) / 1.5) ** 2
        assert line["seeds"] == max(2, math.ceil(asked))


def test_more_rows_make_the_variance_surer() -> None:
    one, two = planned(Aim(1.5), {"gad": GAD}), planned(Aim(1.5), {"gad": GAD}, {"gad": DDI})
    assert two["gad"]["degrees_of_freedom"] == 4 + 2
    within = (4 * statistics.variance(GAD) + 2 * statistics.variance(DDI)) / 6
    assert two["gad"]["sd"] == pytest.approx(math.sqrt(within), abs=1e-6)
    assert (two["gad"]["seeds"] or 0) < (one["gad"]["seeds"] or 0)


def test_a_stated_deviation_is_for_single_runs_and_known() -> None:
    lines = planned(Aim(1.0, sd=0.7), {"gad": [80.0], "ddi": DDI})
    assert (lines["gad"]["sd"], lines["gad"]["degrees_of_freedom"]) == (0.7, None)
    count = lines["gad"]["seeds"]

    def power(runs: int) -> float:
        shift = 1.0 / (0.7 * math.sqrt(2 / runs))
        return float(stats.nct.sf(stats.t.ppf(0.975, 2 * runs - 2), 2 * runs - 2, shift))

    assert power(count) >= 0.8 > power(count - 1)
    assert lines["ddi"]["degrees_of_freedom"] == 2
    unknown = planned(Aim(1.0), {"gad": [80.0]})["gad"]
    assert (unknown["seeds"], unknown["reason"]) == (
        None,
        "no row has two runs, and no sd is stated",
    )


def test_the_score_of_thirteen_has_the_variance_of_their_mean() -> None:
    scores = {name: [80 + 0.1 * place, 81.0, 79.5, 80.2] for place, name in enumerate(DATASETS)}
    lines = planned(Aim(1.0), scores)
    assert next(iter(lines)) == SCORE
    parts = [
        weight**2 * statistics.variance(scores[name]) for name, weight in dataset_weights().items()
    ]
    variance, degrees = sum(parts), sum(parts) ** 2 / sum(part**2 / 3 for part in parts)
    assert lines[SCORE]["sd"] == pytest.approx(math.sqrt(variance), abs=1e-6)
    assert lines[SCORE]["degrees_of_freedom"] == pytest.approx(degrees, abs=1e-5)
    assert lines[SCORE]["seeds"] == max(2, math.ceil(2 * variance * quantiles(degrees) ** 2))
    assert SCORE not in planned(Aim(1.0), {name: scores[name] for name in DATASETS[:12]})
    unknown = planned(Aim(1.0), {**scores, "hoc": [80.0]})
    assert (unknown[SCORE]["seeds"], unknown["gad"]["seeds"] is None) == (None, False)


def test_what_can_be_afforded_says_what_it_finds() -> None:
    line = planned(Aim(seeds=5), {"gad": GAD})["gad"]
    assert (line["detect"], line["seeds"], line["affordable"]) == (None, None, 5)
    assert line["detectable"] == pytest.approx(
        quantiles(4) * statistics.stdev(GAD) * math.sqrt(2 / 5), abs=1e-5
    )
    with pytest.raises(SettingsError, match="how long a run takes is not known of gad"):
        planned(Aim(hours=1.0), {"gad": GAD})


def test_time_is_what_the_runs_of_a_store_took(store: Store) -> None:
    play(store, "old", {"gad": 0.85, "hoc": 0.8})
    play(store, "other", {"gad": 0.85}, (1, 2, 3, 4))
    plan = blurb.plan(["old", "other"], detect=3.0, hours=1.0, output=store.root)
    seconds = plan["gad"]["seed_seconds"]
    assert seconds > 0
    assert plan["gad"]["seconds"] == pytest.approx((plan["gad"]["seeds"] or 0) * seconds)
    both = sum(plan[name]["seed_seconds"] or 0.0 for name in ("gad", "hoc"))
    assert plan["gad"]["affordable"] == plan["hoc"]["affordable"] == int(3600 / both)
    assert (plan["gad"]["degrees_of_freedom"], plan["hoc"]["degrees_of_freedom"]) == (5, 2)
    assert list(plan.to_pandas()["name"]) == ["gad", "hoc"]
    assert "against old quick" in repr(plan)
    short = blurb.plan("old", hours=both / 3600 * 1.5, output=store.root)["gad"]
    assert (short["affordable"], short["detectable"], short["reason"]) == (
        1,
        None,
        "two seeds are the least",
    )


@pytest.mark.parametrize(
    "bad",
    [
        {}, {"detect": 0.0}, {"detect": -1.0}, {"detect": math.nan}, {"detect": 1.0, "power": 0.0},
        {"detect": 1.0, "power": 1.0}, {"detect": 1.0, "power": 0.01}, {"detect": 1.0, "level": 0.0},
        {"detect": 1.0, "sd": 0.0}, {"detect": 1.0, "sd": -0.7}, {"seeds": 1}, {"seeds": 3, "hours": 2.0},
        {"hours": 0.0}, {"hours": math.inf},
    ],
)  # fmt: skip
def test_aims_that_cannot_be(bad: dict[str, Any]) -> None:
    with pytest.raises(BlurbError):
        Aim(**bad)


def test_runs_that_do_not_differ_and_differences_that_nobody_finds() -> None:
    lines = planned(Aim(0.01), {"gad": [80.0, 80.0], "ddi": DDI})
    assert (lines["gad"]["seeds"], lines["gad"]["reason"]) == (None, "its runs do not differ")
    assert (lines["ddi"]["seeds"], lines["ddi"]["reason"]) == (None, "more than 1,000 seeds")
