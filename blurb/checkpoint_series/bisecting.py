"""The first bad checkpoint of a run by halving: about log2(n) checkpoints are scored.

It rests on one assumption: there is one change, all checkpoints before it are good and all after it are bad. Scores are
noisy, so each answer is of several fine-tunings, as many as hold the probability of any wrong answer.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from blurb.messages.errors import DataError, SettingsError
from blurb.messages.text import plural
from blurb.results.measures import Measure

SEEDS, MOST = 3, 20
"""Fine-tunings of a checkpoint: at the start, and at most."""
ERROR = 0.05
SCORE, LOSS = Measure.SCORE, Measure.LOSS
Values = Mapping[str, Sequence[float]]
"""Measure (score, loss) -> value of each fine-tuning; a lower loss is better."""
Evaluate = Callable[[int, int], Values]
"""Step and number of fine-tunings -> values; empty if the checkpoint could not be scored."""


@dataclass(frozen=True)
class Look:
    """A checkpoint that was looked at: the mean by the measure that decided, and whether it is bad."""

    step: int
    mean: float
    runs: int
    bad: bool


@dataclass(frozen=True)
class Bisection:
    """Where a run broke.

    :param first_bad: the first bad step; None if the last is not worse than the good one by as much as was asked for
    :param last_good: the last good step before it
    :param looks: in the order of the looks
    :param measure: what decided: the score, or the loss of the head on dev
    :param error: upper bound of the probability that any answer was wrong; None with one fine-tuning each
    :param failed: steps that could not be scored
    :param asked: the error that the search was to hold
    """

    first_bad: int | None
    last_good: int
    looks: tuple[Look, ...]
    measure: str
    drop: float
    error: float | None
    failed: tuple[int, ...] = ()
    asked: float = ERROR

    def __str__(self) -> str:
        count = plural(len(self.looks), "checkpoint")
        if self.first_bad is None:
            return (
                f"Step {self.looks[1].step} is {self.drop:+.2f} points from step {self.last_good}: no drop as "
                f"large as was asked for ({count} scored)."
            )
        bound = "not known, with one fine-tuning each"
        more = ""
        if self.error is not None:
            bound = f"at most {max(self.error, 0.001):.1%}"  # no model of noise is known to a thousandth
            if self.error > self.asked:
                more = (
                    f" {self.asked:.1%} was asked for, and {MOST} fine-tunings of a checkpoint, the maximum, do not "
                    "reach this error: take a dataset that sees the fall better (blurb series) or a dearer protocol."
                )
        lost = f" Step {', '.join(map(str, self.failed))} could not be scored." if self.failed else ""
        return (
            f"The first bad checkpoint is step {self.first_bad}, after step {self.last_good} "
            f"({self.drop:+.2f} points at the end; {count} scored, judged by the {self.measure}). If there is one "
            f"change, the probability of a wrong answer is {bound}.{more}{lost}"
        )


def bisect(
    steps: Sequence[int], evaluate: Evaluate, drop: float, error: float = ERROR, seeds: int = SEEDS
) -> Bisection:
    """Finds the first bad step.

    Both ends are scored first. Whichever of score and loss differs by more of its standard deviations between them
    decides, at the middle between the two ends; a checkpoint on the far side of it is bad.

    :param steps: ascending; the first is good
    :param drop: points by which the last is worse, for there to be anything to find
    :param error: of the whole search; so many fine-tunings are made, `MOST` at most, that it is held
    :raises SettingsError: for a drop that is not positive, or fewer than two steps
    :raises DataError: if one of the ends cannot be scored
    """
    if not drop > 0 or not 0 < error < 1 or not 1 <= seeds <= MOST:
        raise SettingsError(
            f"A search needs a drop above 0, an error between 0 and 1 and 1 to {MOST} fine-tunings "
            f"(got {drop:g}, {error:g}, {seeds})."
        )
    if len(steps) < 2:
        raise SettingsError("A search needs at least two checkpoints.")
    there = list(steps)
    good, bad = _end(evaluate, there[0], seeds), _end(evaluate, there[-1], seeds)
    decisions = math.ceil(math.log2(max(2, len(there) - 1)))
    while True:
        if _change(good, bad) > -drop:  # perhaps the first runs alone had a drop
            return _nothing(there, good, bad)
        measure = _sharpest(good, bad)
        runs, bound = _runs(good[measure], bad[measure], decisions, error)
        if runs <= len(good[SCORE]):
            break
        good, bad = _end(evaluate, there[0], runs), _end(evaluate, there[-1], runs)  # half of every answer
    ends = statistics.fmean(good[measure]), statistics.fmean(bad[measure])
    middle = sum(ends) / 2
    looks_so_far, failed = list(_looks(there, good, bad, measure, True)), []
    low, high = 0, len(there) - 1
    while high - low > 1:
        place = (low + high) // 2
        values = evaluate(there[place], runs)
        if len(values.get(measure, ())) < runs:  # the bound is that of so many
            failed.append(there.pop(place))
            high -= 1
            continue
        mean = statistics.fmean(values[measure])
        is_bad = (mean > middle) == (ends[1] > ends[0])
        looks_so_far.append(Look(there[place], mean, len(values[measure]), is_bad))
        low, high = (low, place) if is_bad else (place, high)
    change = _change(good, bad)
    return Bisection(there[high], there[low], tuple(looks_so_far), measure, change, bound, tuple(failed), error)


def _change(good: Values, bad: Values) -> float:
    return statistics.fmean(bad[SCORE]) - statistics.fmean(good[SCORE])


def _nothing(steps: Sequence[int], good: Values, bad: Values) -> Bisection:
    return Bisection(None, steps[0], _looks(steps, good, bad, SCORE, False), SCORE, _change(good, bad), None)


def _end(evaluate: Evaluate, step: int, seeds: int) -> Values:
    values = evaluate(step, seeds)
    there = len(values.get(SCORE, ()))
    if there < seeds:
        raise DataError(f"Step {step} has {there} of {seeds} fine-tunings, and a search needs all of both its ends.")
    return values


def _looks(steps: Sequence[int], good: Values, bad: Values, measure: str, is_bad: bool) -> tuple[Look, ...]:
    return (
        Look(steps[0], statistics.fmean(good[measure]), len(good[measure]), False),
        Look(steps[-1], statistics.fmean(bad[measure]), len(bad[measure]), is_bad),
    )


def _deviation(good: Sequence[float], bad: Sequence[float]) -> float | None:
    if min(len(good), len(bad)) < 2:
        return None
    return math.sqrt((statistics.variance(good) + statistics.variance(bad)) / 2)


def _sharpest(good: Values, bad: Values) -> str:
    """The measure whose ends are most of its standard deviations apart; the score if that is not known."""
    ratios = {}
    for measure in (SCORE, LOSS):
        if good.get(measure) and bad.get(measure):
            change = statistics.fmean(bad[measure]) - statistics.fmean(good[measure])
            deviation = _deviation(good[measure], bad[measure])
            worse = change > 0 if measure == LOSS else change < 0
            if worse and deviation is not None:
                ratios[measure] = abs(change) / deviation if deviation else math.inf
    return max(ratios, key=lambda measure: (ratios[measure], measure == SCORE), default=SCORE)


def _runs(good: Sequence[float], bad: Sequence[float], decisions: int, error: float) -> tuple[int, float | None]:
    """How many fine-tunings hold the error over all answers, and the bound that they give.

    An answer compares the mean of some runs with the middle of two means of as many, whose variance is half of theirs.
    The variance is that of the first runs (Student's t), the bound that of Bonferroni.
    """
    from scipy.special import stdtr

    deviation = _deviation(good, bad)
    if deviation is None:
        return len(good), None
    freedom = len(good) + len(bad) - 2
    half = abs(statistics.fmean(good) - statistics.fmean(bad)) / 2

    def bound(runs: int) -> float:
        if not deviation:
            return 0.0
        return min(1.0, decisions * float(stdtr(freedom, -half / (deviation * math.sqrt(1.5 / runs)))))

    runs = next((runs for runs in range(len(good), MOST + 1) if bound(runs) <= error), MOST)
    return runs, bound(runs)
