"""The first bad checkpoint: as many looks as halving needs, and the error that is promised, by simulation."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import blurb
from blurb.extensions.series.bisecting import Bisection, bisect
from blurb.extensions.series.conduct import following
from blurb.messages.errors import BlurbError

STEPS = [1_000 * (place + 1) for place in range(64)]
Values = Mapping[str, Sequence[float]]


def _run(
    change: int, sd: float = 0.0, drop: float = 3.0, seed: int = 0, loss_sd: float | None = None
) -> tuple[Callable[[int, int], Values], dict[int, int]]:
    """Scores of 64 checkpoints with a drop at one of them; fine-tunings are drawn once, as a store keeps them."""
    generator = np.random.default_rng(seed)
    drawn = {step: generator.normal(size=(2, 20)) for step in STEPS}
    looked: dict[int, int] = {}

    def evaluate(step: int, runs: int) -> Values:
        looked[step] = max(runs, looked.get(step, 0))
        bad = STEPS.index(step) >= change
        scores = 80 - drop * bad + sd * drawn[step][0][:runs]
        losses = [] if loss_sd is None else 0.5 + 0.1 * bad + loss_sd * drawn[step][1][:runs]
        return {"score": list(scores), "loss": list(losses)}

    return evaluate, looked


@pytest.mark.parametrize("change", [1, 2, 31, 32, 33, 62, 63])
def test_of_64_checkpoints_at_most_8_are_scored(change: int) -> None:
    evaluate, looked = _run(change)
    found = bisect(STEPS, evaluate, drop=1.0)
    assert (found.last_good, found.first_bad) == (STEPS[change - 1], STEPS[change])
    assert len(looked) <= 8
    assert found.error == 0


def test_the_promised_error_holds() -> None:
    """A drop of 3 with a standard deviation of 1.5: at most 5 % wrong, with more seeds if the pilot asks for them."""
    wrong, seeds = 0, []
    for seed in range(400):
        change = 1 + seed % 63
        evaluate, looked = _run(change, sd=1.5, seed=seed)
        found = bisect(STEPS, evaluate, drop=1.0, seeds=5)
        wrong += found.first_bad != STEPS[change] if found.first_bad is not None else 0
        seeds.append(max(looked.values()))
    assert wrong / 400 <= 0.05
    assert max(seeds) > 5


def test_the_sharper_measure_decides() -> None:
    evaluate, _ = _run(20, sd=1.5, seed=1, loss_sd=0.001)
    found = bisect(STEPS, evaluate, drop=1.0)
    assert (found.measure, found.first_bad) == ("loss", STEPS[20])


def test_nothing_is_looked_for_where_nothing_dropped() -> None:
    evaluate, looked = _run(99)
    found = bisect(STEPS, evaluate, drop=1.0)
    assert found.first_bad is None
    assert len(looked) == 2
    assert "no drop as large as was asked for" in str(found)


def test_a_drop_that_further_fine_tunings_take_back_is_none() -> None:
    """Three of each end fall by 4.5 points, and the others that the error asks for rise."""
    first, last = [80.0, 81.0, 79.0, *[80.0] * 17], [75.5, 76.5, 74.5, *[90.0] * 17]
    answer = bisect(
        STEPS, lambda step, runs: {"score": (first if step == STEPS[0] else last)[:runs]}, drop=1.0
    )
    assert answer.first_bad is None
    assert {look.step for look in answer.looks} == {STEPS[0], STEPS[-1]}
    assert min(look.runs for look in answer.looks) > 3
    assert answer.drop > 0


def test_a_measure_that_further_fine_tunings_turn_round_decides_nothing() -> None:
    """Three losses of each end say that the last is worse, the others that it is better: the score decides."""
    scores = [81.0, 79.0, 80.0, *[80.0] * 17]
    first, last = [0.50, 0.52, 0.48, *[0.5] * 17], [0.60, 0.62, 0.58, *[0.1] * 17]

    def evaluate(step: int, runs: int) -> Values:
        good = step < STEPS[40]
        return {
            "score": [score - 3 * (not good) for score in scores[:runs]],
            "loss": (first if good else last)[:runs],
        }

    three = {step: evaluate(step, 3)["loss"] for step in (STEPS[0], STEPS[-1])}
    assert sum(three[STEPS[-1]]) > sum(three[STEPS[0]])
    answer = bisect(STEPS, evaluate, drop=1.0)
    assert (answer.measure, answer.first_bad) == ("score", STEPS[40])
    assert min(look.runs for look in answer.looks) > 3


def test_losses_that_are_missing_end_no_search() -> None:
    """A row may have fewer losses than scores; the ends are not asked for again and again."""
    inner, _ = _run(40, sd=0.01, loss_sd=0.001)

    def evaluate(step: int, runs: int) -> Values:
        values = inner(step, runs)
        return {"score": values["score"], "loss": values["loss"][: runs - 1]}

    assert bisect(STEPS, evaluate, drop=1.0).looks


def test_an_error_that_is_not_held_is_told() -> None:
    for error, told in ((0.838, True), (0.05, False), (None, False)):
        text = str(Bisection(2_000, 1_000, (), "score", -3.0, error))
        assert ("5.0% was asked for, and 20 fine-tunings of a checkpoint" in text) is told


def test_a_checkpoint_that_cannot_be_scored_is_gone_round() -> None:
    inner, looked = _run(40)

    def evaluate(step: int, runs: int) -> Values:
        return {} if step == STEPS[31] else inner(step, runs)

    found = bisect(STEPS, evaluate, drop=1.0)
    assert (found.first_bad, found.failed) == (STEPS[40], (STEPS[31],))
    assert "could not be scored" in str(found)
    assert len(looked) <= 9


def test_one_seed_has_no_known_error() -> None:
    found = bisect(STEPS, _run(40)[0], drop=1.0, seeds=1)
    assert found.error is None
    assert "not known, with one fine-tuning each" in str(found)


@pytest.mark.parametrize(
    "given",
    [{"drop": 0.0}, {"drop": np.nan}, {"error": 1.0}, {"seeds": 0}, {"seeds": 21}, {"seeds": "3"}],
)
def test_what_cannot_be_searched(given: dict[str, Any]) -> None:
    with pytest.raises(BlurbError, match="search needs"):
        bisect(STEPS[:1], _run(40)[0], drop=1.0)
    (name,) = given
    with pytest.raises(BlurbError, match=f"^{name} must be"):
        blurb.bisect("nowhere", "gad", **{"drop": 1.0, **given})


def test_an_end_that_fails_ends_the_search() -> None:
    with pytest.raises(BlurbError, match="Step 1000 has 0 of 3 fine-tunings"):
        bisect(STEPS, lambda step, runs: {}, drop=1.0)


def test_a_checkpoint_with_fewer_fine_tunings_decides_nothing() -> None:
    """The error that is stated is that of all of them."""
    inner, _ = _run(40)

    def evaluate(step: int, runs: int) -> Values:
        return {
            name: values[: 1 if step == STEPS[31] else runs]
            for name, values in inner(step, runs).items()
        }

    assert bisect(STEPS, evaluate, drop=1.0).failed == (STEPS[31],)


def test_two_checkpoints_are_enough() -> None:
    found: Bisection = bisect(
        [1, 2], lambda step, runs: {"score": [80.0 - 5 * step] * runs}, drop=1.0
    )
    assert (found.last_good, found.first_bad) == (1, 2)


# Which checkpoint comes next: on made-up curves the knee is found with a third of them.


GEOMETRIC = [round(100 * 1.25**place) for place in range(30)]


def _looked(
    curve: Callable[[int], float], count: int, steps: list[int] = GEOMETRIC
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
        return 50 + 20 * max(0.0, math.log(step / GEOMETRIC[knee]))

    looked = _looked(curve, 10)
    assert {GEOMETRIC[knee - 1], GEOMETRIC[knee], GEOMETRIC[knee + 1]} & set(looked)
    near = sorted(looked, key=lambda step: abs(GEOMETRIC.index(step) - knee))[:2]
    assert all(abs(GEOMETRIC.index(step) - knee) <= 1 for step in near)


@pytest.mark.parametrize("seed", range(5))
def test_a_step_down_is_found_in_noise(seed: int) -> None:
    noise = np.random.default_rng(seed).normal(scale=0.3, size=len(GEOMETRIC))

    def curve(step: int) -> float:
        place = GEOMETRIC.index(step)
        return 60 + noise[place] - (8 if place >= 17 else 0)

    looked = sorted(GEOMETRIC.index(step) for step in _looked(curve, 10))
    assert any(
        low >= 15 and high <= 19 and low < 17 <= high for low, high in itertools.pairwise(looked)
    )


def test_all_are_looked_at_in_the_end() -> None:
    assert sorted(_looked(lambda step: math.sin(step), 99)) == GEOMETRIC
    assert following([], {}) is None
    assert _looked(float, 5, [7]) == {7: 7.0}
