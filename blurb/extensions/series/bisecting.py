"""The first bad checkpoint of a run by halving: about log2(n) checkpoints are scored.

It rests on one assumption: there is one change, all checkpoints before it are good and all after it are bad. Scores are
noisy, so each answer is of several fine-tunings, as many as hold the probability of any wrong answer.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from blurb.extensions.series.smoothing import Measure
from blurb.messages import DataError, SettingsError, count_noun

SEEDS, MOST = 3, 20
"""Fine-tunings of a checkpoint: at the start, and at most."""
ERROR = 0.05
MORE = 1.5
"""By how much the number of fine-tunings grows where a search did not hold its error."""
NEAREST = 0.1
"""Of the way from one end to the other: the line is no nearer to an end, however little its few runs vary."""
SCORE, LOSS = Measure.SCORE, Measure.LOSS
Values = Mapping[str, Sequence[float]]
"""Measure (score, loss) -> value of each fine-tuning; a lower loss is better."""
Evaluate = Callable[[int, int], Values]
"""Step and number of fine-tunings -> values; empty if the checkpoint could not be scored."""


@dataclass(frozen=True)
class BisectionLook:
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
    :param error: estimated probability that any answer was wrong, not below what happened in simulated searches
        (docs/results/bisect); None with one fine-tuning each
    :param failed: steps that could not be scored
    :param asked: the error that the search was to hold
    """

    first_bad: int | None
    last_good: int
    looks: tuple[BisectionLook, ...]
    measure: str
    drop: float
    error: float | None
    failed: tuple[int, ...] = ()
    asked: float = ERROR

    def __str__(self) -> str:
        count = count_noun(len(self.looks), "checkpoint")
        if self.first_bad is None:
            return (
                f"Step {self.looks[1].step} is {self.drop:+.2f} points from step {self.last_good}: no drop as "
                f"large as was asked for ({count} scored)."
            )
        bound, more = "not known, with one fine-tuning each", ""
        if self.error is not None:
            bound = f"about {max(self.error, 0.01):.1%}"  # no model of noise is known to less than a hundredth
            if self.error > self.asked:
                more = (
                    f" {self.asked:.1%} was asked for, and {MOST} fine-tunings of a checkpoint, the maximum, do not "
                    "reach this error: take a dataset that sees the fall better (blurb series) or a dearer protocol."
                )
        lost = (
            f" Step {', '.join(map(str, self.failed))} could not be scored." if self.failed else ""
        )
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
    decides, at a line between the two ends that is as many deviations of each from it; a checkpoint on the far side is
    bad. What is stated is the larger of two estimates: from the ends alone, by which the number of fine-tunings was
    chosen, and from all fine-tunings of the search, most of which had no part in that choice. If it is above `error`,
    the search is made again with more fine-tunings.

    :param steps: ascending; the first is good
    :param drop: points by which the last is worse, for there to be anything to find
    :param error: of the whole search; so many fine-tunings are made, `MOST` at most, that it is held
    :raises SettingsError: for fewer than two steps
    :raises DataError: if one of the ends cannot be scored
    """
    if len(steps) < 2:
        raise SettingsError("A search needs at least two checkpoints.")
    search = _Search(list(steps), evaluate, math.ceil(math.log2(max(2, len(steps) - 1))), error)
    runs = seeds
    while True:
        good, bad = search.ends(runs)
        change = statistics.fmean(bad[SCORE]) - statistics.fmean(good[SCORE])
        if change > -drop:  # perhaps the first runs alone had a drop
            return Bisection(
                first_bad=None,
                last_good=steps[0],
                looks=_looks(search.steps, good[SCORE], bad[SCORE], False),
                measure=SCORE,
                drop=change,
                error=None,
            )
        line = _Line.between(good, bad)
        if (enough := search.enough(line)) > runs:
            runs = enough
            continue
        answer = search.halve(line, change)
        if answer.error is None or answer.error <= error or runs == MOST:
            return answer
        runs = min(MOST, math.ceil(MORE * runs))


@dataclass(frozen=True)
class _Line:
    """The limit between good and bad checkpoints: a value of one measure.

    :param good: the measure's values at the good end; `bad` likewise
    :param value: the line; a mean on the side of `bad` is bad
    """

    measure: str
    good: Sequence[float]
    bad: Sequence[float]
    value: float

    @classmethod
    def between(cls, good: Values, bad: Values) -> _Line:
        """The line of the sharper measure: as many deviations from each end, and nearer to none than `NEAREST`."""
        # The measure whose ends are most of its standard deviations apart; the score if that is not known.
        ratios = {}
        for each in (SCORE, LOSS):
            if min(len(good.get(each, ())), len(bad.get(each, ()))) > 1:
                change = statistics.fmean(bad[each]) - statistics.fmean(good[each])
                deviation = statistics.stdev(good[each]) + statistics.stdev(bad[each])
                if change > 0 if each == LOSS else change < 0:
                    ratios[each] = abs(change) / deviation if deviation else math.inf
        measure = max(ratios, key=lambda each: (ratios[each], each == SCORE), default=SCORE)
        ends = good[measure], bad[measure]
        first, last = map(statistics.fmean, ends)
        deviations = [statistics.stdev(end) if len(end) > 1 else 1.0 for end in ends]
        share = deviations[0] / sum(deviations) if sum(deviations) else 0.5
        return cls(measure, *ends, first + min(max(share, NEAREST), 1 - NEAREST) * (last - first))

    def is_bad(self, mean: float) -> bool:
        """Whether a checkpoint with this mean is bad."""
        return (mean > self.value) == (statistics.fmean(self.bad) > statistics.fmean(self.good))

    def wrong(self, side: Sequence[float], runs: int, freedom: int) -> float:
        """The probability that the mean of some runs of a checkpoint of a side lies beyond the line.

        :param side: values of its side, whose own mean is uncertain, too
        :param freedom: degrees of freedom of their deviation
        """
        from scipy.special import stdtr

        distance, deviation = abs(statistics.fmean(side) - self.value), statistics.stdev(side)
        error = deviation * math.sqrt(1 / runs + 1 / max(runs, len(side)))
        return float(stdtr(freedom, -distance / error)) if error else 0.5 * (not distance)


@dataclass
class _Search:
    """The search among steps; those that cannot be scored leave it.

    :param decisions: of one halving
    """

    steps: list[int]
    evaluate: Evaluate
    decisions: int
    error: float
    failed: list[int] = field(default_factory=list)

    def ends(self, runs: int) -> tuple[Values, Values]:
        """The values of both ends."""
        ends = []
        for step in (self.steps[0], self.steps[-1]):
            ends.append(self.evaluate(step, runs))
            if (there := len(ends[-1].get(SCORE, ()))) < runs:
                raise DataError(
                    f"Step {step} has {there} of {runs} fine-tunings, and a search needs all of both its ends."
                )
        return ends[0], ends[1]

    def enough(self, line: _Line) -> int:
        """The fine-tunings that hold the error if the ends are as they were seen; 0 where nothing tells it."""
        there = len(line.good)
        if min(there, len(line.bad)) < 2:
            return 0
        return next(
            (runs for runs in range(there, MOST) if self.before(line, runs) <= self.error), MOST
        )

    def before(self, line: _Line, runs: int) -> float:
        """The estimate from the ends alone; each decision may be of the side that is wrong more often."""
        wrong = max(line.wrong(side, runs, runs - 1) for side in (line.good, line.bad))
        return min(1.0, self.decisions * wrong)

    def halve(self, line: _Line, change: float) -> Bisection:
        """One search with the runs that the ends have."""
        runs = min(len(line.good), len(line.bad))
        sides = {False: [line.good], True: [line.bad]}
        looks = list(_looks(self.steps, line.good, line.bad, True))
        low, high = 0, len(self.steps) - 1
        while high - low > 1:
            place = (low + high) // 2
            values = self.evaluate(self.steps[place], runs).get(line.measure, ())
            if len(values) < runs:  # the error is that of so many
                self.failed.append(self.steps.pop(place))
                high -= 1
                continue
            mean = statistics.fmean(values)
            is_bad = line.is_bad(mean)
            sides[is_bad].append(values)
            looks.append(BisectionLook(self.steps[place], mean, len(values), is_bad))
            low, high = (low, place) if is_bad else (place, high)
        stated = (
            max(self.before(line, runs), self.after(line, runs, sides.values()))
            if runs > 1
            else None
        )
        return Bisection(
            self.steps[high],
            self.steps[low],
            tuple(looks),
            line.measure,
            change,
            stated,
            tuple(self.failed),
            self.error,
        )

    def after(self, line: _Line, runs: int, sides: Iterable[Sequence[Sequence[float]]]) -> float:
        """The estimate from all runs of the search: where an end was an exception, the others are near the line."""
        wrong = 0.0
        for side in sides:
            values = [value for checkpoint in side for value in checkpoint]
            wrong += (len(side) - 1) * line.wrong(values, runs, len(values) - 1)
        return min(1.0, wrong)


def _looks(
    steps: Sequence[int], good: Sequence[float], bad: Sequence[float], is_bad: bool
) -> tuple[BisectionLook, ...]:
    return (
        BisectionLook(steps[0], statistics.fmean(good), len(good), False),
        BisectionLook(steps[-1], statistics.fmean(bad), len(bad), is_bad),
    )
