"""Compares two rows by dataset, task type and score: which differences exceed the noise of seeds and test examples?

`blurb compare` and `blurb check` both show the results of one function, `compare_rows`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, NamedTuple, TypedDict

from blurb import tasks
from blurb.grouping import by_key
from blurb.messages import format_p, format_signed
from blurb.records import Count, Probability
from blurb.results import predictions
from blurb.results.comparability import Reason, Use, find_obstacles, is_passed
from blurb.results.row import Row
from blurb.results.score import SCORE, dataset_weights, mean_weights, type_weights
from blurb.statistics import bootstrap, pooled
from blurb.statistics.welch import WelchComparison, combine_tests, holm, welch_test
from blurb.store.record import score_bounds
from blurb.tasks import Split

PAIRED = (
    "Probes have no runs: p is from a paired permutation test over test examples, the interval from a paired "
    "bootstrap. Both are about these two checkpoints and do not tell which will be better after fine-tuning."
)
"""Note below every comparison of two probes."""
LARGE = 2.0
"""Points from which on a difference is spoken of, even if the test does not show it."""


class Verdict(StrEnum):
    """The outcome of a comparison for the first row."""

    HIGHER = "higher"
    LOWER = "lower"
    NOT_SHOWN = "no difference shown"
    UNKNOWN = "cannot judge"


class ComparisonLine(TypedDict):
    """The comparison of two rows on a task, a task type or the score; the numbers are first minus other."""

    first: Annotated[str, "the first row"]
    other: Annotated[str, "the other row"]
    name: Annotated[str, "task, task type or `score`"]
    first_score: Annotated[float | None, "mean of the first row, times 100; null if it is missing"]
    other_score: Annotated[float | None, "mean of the other row"]
    difference: Annotated[float | None, "first minus other, in points; null if one is missing"]
    low: Annotated[
        float | None,
        "95 % interval of this line alone (not corrected over the tasks); null if unknown",
    ]
    high: Annotated[float | None, "its upper end"]
    p: Annotated[Probability | None, "two-sided, corrected over the tasks; null if unknown"]
    detectable: Annotated[float | None, "true difference that is found with a probability of 80 %"]
    first_runs: Annotated[Count, "runs of the first row"]
    other_runs: Annotated[Count, "runs of the other row"]
    paired: Annotated[bool, "a paired test over test examples, of two probes"]
    verdict: Annotated[Verdict, "of the first row"]
    reason: Annotated[str, "why there is no verdict"]
    remarks: Annotated[list[str], "what differs between the rows, or is unknown"]


class Compared(ComparisonLine):
    """A line of `blurb compare`."""

    within_max_drop: Annotated[
        bool | None, "whether the first row is within --max-drop of the other; null without"
    ]


@dataclass(frozen=True)
class ScoreComparison:
    """The comparison of two rows on one dataset, task type or the score.

    :param name: the dataset, task type or score
    :param first: mean of the first row, None if missing
    :param other: mean of the other row, None if missing
    :param runs: numbers of runs of both
    :param comparison: first minus other
    :param p: two-sided p-value, corrected over the datasets; None if unknown
    :param reason: why there is no verdict, else ""
    :param part: of a mean, the dataset whose reason it is
    :param incomparable: kind of that reason, if the numbers are not comparable
    """

    name: str
    first: float | None
    other: float | None
    runs: tuple[int, int]
    comparison: WelchComparison
    p: float | None = None
    reason: str = ""
    part: str = ""
    incomparable: Reason | None = None

    @property
    def difference(self) -> float | None:
        """First minus other, in points; None if unknown."""
        return self.comparison.difference

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % interval of the difference, of this line alone, within what two scores can differ by."""
        known = self.comparison.interval
        if known is None:
            return None
        shares = mean_weights().get(self.name, {self.name: 1.0})
        widest = sum(
            share * (score_bounds(name)[1] - score_bounds(name)[0])
            for name, share in shares.items()
        )
        return max(known[0], -widest), min(known[1], widest)

    def unseen(self, level: float) -> str:
        """The note on a large difference that the test does not show; "" for others."""
        detectable = self.comparison.detectable
        if (
            self.p is None
            or self.p < level
            or detectable is None
            or abs(self.difference or 0.0) < LARGE
        ):
            return ""
        return (
            f"{format_signed(self.difference or 0.0)} points are not shown to be more than chance; with "
            f"{self.runs[0]} / {self.runs[1]} runs {seen_alone(detectable)}"
        )

    def verdict(self, level: float) -> Verdict:
        """The verdict on the first row; `reason` says why there is none."""
        if self.p is None:
            return Verdict.UNKNOWN
        if self.p < level:
            return Verdict.HIGHER if (self.difference or 0) > 0 else Verdict.LOWER
        return Verdict.NOT_SHOWN


def seen_alone(detectable: float) -> str:
    """The smallest difference that a comparison could detect (`Comparison.detectable`)."""
    return f"{detectable:.2f} points are seen in four of five cases, before the correction over the datasets"


def load_examples(row: Row, name: str, split: Split) -> bootstrap.Clusters | None:
    """The scored examples of a row on a dataset, as it stored them; None without predictions."""
    return predictions.load_clusters(row.records_of(name), split)


def compare_rows(
    first: Row,
    other: Row,
    split: Split,
    with_units: bool,
    only: Collection[str] | None = None,
    across: Collection[str] = (),
    variances: Mapping[str, pooled.RunVariance] | None = None,
    draws: int = bootstrap.RESAMPLES,
    examples: Callable[[Row, str, Split], bootstrap.Clusters | None] = load_examples,
) -> list[ScoreComparison]:
    """Compares two rows: all datasets of either row in the paper's order, then complete task types and the score.

    Differences are the first row minus the other.

    p-values are corrected over the datasets (Holm); those of score and task types, which are sums of datasets, are not.

    :param with_units: include the variance from the choice of test examples, if both rows have predictions
    :param only: compare only these datasets; None: all datasets of either row
    :param across: what to pass over (`blurb.results.across.ACROSS`)
    :param variances: between runs, of datasets of which more is known than these two rows say
    :param draws: of the paired test of probes
    :param examples: the scored examples of a row on a dataset, by which its scores are resampled
    """
    requested = _ComparisonRequest(split, with_units, across, variances or {}, draws, examples)
    there = {
        name
        for row in (first, other)
        for name in row.datasets
        if _shown_mean(row, name, split) is not None
    }
    names = [task.name for task in tasks.all() if task.name in there]
    names += sorted(there - set(names))  # tasks that are not installed here
    names = [name for name in names if only is None or name in only]
    lines = [_compare_dataset(name, first, other, requested) for name in names]
    lines = [
        replace(line, p=p)
        for line, p in zip(lines, holm([line.comparison.p for line in lines]), strict=True)
    ]
    by_name = {line.name: line for line in lines}
    return lines + [
        line
        for name, parts in {**type_weights(), SCORE: dataset_weights()}.items()
        if (line := _compare_mean(name, parts, by_name)) and len(parts) > 1
    ]


class _ComparisonRequest(NamedTuple):
    """How `compare_rows` compares."""

    split: Split
    with_units: bool
    across: Collection[str]
    variances: Mapping[str, pooled.RunVariance]
    draws: int
    examples: Callable[[Row, str, Split], bootstrap.Clusters | None]


def _compare_dataset(
    name: str, first: Row, other: Row, requested: _ComparisonRequest
) -> ScoreComparison:
    split = requested.split
    own, theirs = _shown_mean(first, name, split), _shown_mean(other, name, split)
    sides = first.values(name, split), other.values(name, split)
    runs = (len(sides[0]), len(sides[1]))
    if own is None or theirs is None:
        return ScoreComparison(
            name, own, theirs, runs, WelchComparison(None), reason="missing in one row"
        )
    plain = ScoreComparison(name, own, theirs, runs, WelchComparison(own - theirs))
    apart = [
        one
        for one in find_obstacles(first, other, Use.COMPARE, name, split)
        if not is_passed(one, requested.across)
    ]
    known = [one for one in apart if one.reason is not Reason.UNKNOWN]
    if known:
        return replace(plain, incomparable=known[0].reason, reason=known[0].text())
    if 0 in runs and not (first.kind.paired or other.kind.paired):
        return replace(plain, reason="a number without runs")
    if apart:
        return replace(plain, incomparable=apart[0].reason, reason=apart[0].text())
    if first.kind.paired or other.kind.paired:
        return _compare_paired(plain, first, other, requested)
    if name in requested.variances:
        result = pooled.compare(sides[0], sides[1], requested.variances[name])
    elif runs == (1, 1):
        return replace(
            plain,
            reason=_hint_at_single_runs(name, first, other, requested)
            if requested.with_units
            else "one run each",
        )
    else:
        both = _scored_units(name, first, other, requested) if requested.with_units else None
        variance, clusters = (
            (bootstrap.difference_variance(*both, name), len(both[0].names)) if both else (0.0, 0)
        )
        result = welch_test(sides[0], sides[1], variance, clusters)
    return replace(
        plain, comparison=result, reason="" if result.standard_error else "no variance between runs"
    )


def _compare_paired(
    line: ScoreComparison, first: Row, other: Row, requested: _ComparisonRequest
) -> ScoreComparison:
    """The line of two probes: a paired test over test examples, valid for these two checkpoints only."""
    both = _scored_units(line.name, first, other, requested)
    if both is None or both[0].runs != 1 or both[1].runs != 1:
        return replace(
            line, reason="comparing probes needs the predictions of both on the same examples"
        )
    error = math.sqrt(bootstrap.difference_variance(*both, line.name))
    draws = bootstrap.swapped(both[1], both[0], line.name, requested.draws)
    count = len(both[0].names)
    degrees_of_freedom = count - 1 if error and count > 1 else None
    return replace(
        line, comparison=WelchComparison(line.difference, error, degrees_of_freedom, draws)
    )


def _shown_mean(row: Row, name: str, split: Split) -> float | None:
    """The mean of a dataset; for numbers without runs always that of test."""
    dataset = row.datasets.get(name)
    mean = None if dataset is None else dataset.mean(split)
    return mean if dataset is None or mean is not None else dataset.means.get("test")


def _hint_at_single_runs(name: str, first: Row, other: Row, requested: _ComparisonRequest) -> str:
    """Why two single runs get no verdict, with the p-value for these two runs."""
    both = _scored_units(name, first, other, requested)
    if both is None:
        return "one run each"
    p = bootstrap.paired_permutation_test(*both, name)
    return f"one run each (p {format_p(p)} over test examples, valid for these two runs but not for their encoders)"


def _scored_units(
    name: str, first: Row, other: Row, requested: _ComparisonRequest
) -> tuple[bootstrap.Clusters, bootstrap.Clusters] | None:
    """The scored examples of both rows; None without predictions, or if the examples differ."""
    own, theirs = (requested.examples(row, name, requested.split) for row in (first, other))
    return None if own is None or theirs is None or own.names != theirs.names else (own, theirs)


def _compare_mean(
    name: str, shares: Mapping[str, float], lines: Mapping[str, ScoreComparison]
) -> ScoreComparison | None:
    """The line of a weighted mean; None unless both rows have all of its datasets."""
    parts = [lines.get(task) for task in shares]
    if any(part is None or part.first is None or part.other is None for part in parts):
        return None
    whole = [(shares[part.name], part) for part in parts if part is not None]
    mean = combine_tests([(share, part.comparison) for share, part in whole])
    without = next(
        (part for _, part in whole if part.reason and not part.comparison.standard_error), None
    )
    return ScoreComparison(
        name,
        sum(share * (part.first or 0.0) for share, part in whole),
        sum(share * (part.other or 0.0) for share, part in whole),
        (min(part.runs[0] for _, part in whole), min(part.runs[1] for _, part in whole)),
        mean,
        mean.p,
        f"{without.name}: {without.reason}" if without else "",
        without.name if without else "",
    )


def sentences(lines: Iterable[ScoreComparison], first: str, other: str, level: float) -> list[str]:
    """The verdicts with the names of the rows: `cand is lower than base on gad, hoc.`"""
    groups = by_key((line.verdict(level), line.name) for line in lines)
    return [
        f"{first} is {verdict} than {other} on {', '.join(groups[verdict])}."
        for verdict in (Verdict.HIGHER, Verdict.LOWER)
        if verdict in groups
    ]


def has_paired(lines: Iterable[ScoreComparison]) -> bool:
    """Whether any line has a paired test."""
    return any(line.comparison.paired for line in lines)
