"""Rows side by side: per dataset, per task type and overall, what differs by more than seeds and test units explain.

One function, `judge`, is behind `blurb compare` and `blurb check`; both only show what it found.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from blurb import tasks
from blurb.results import predictions
from blurb.results.row_scores import RowScores
from blurb.results.score import type_weights, weights
from blurb.runs.spec import PROBE
from blurb.statistics import bootstrap, permutation
from blurb.statistics.clusters import Clusters
from blurb.statistics.holm import holm
from blurb.statistics.welch import Comparison, combined, compare
from blurb.tasks import Split
from blurb.wording import probability

SCORE = "score"
PAIRED = (
    "Probes have no runs: p is of a paired randomisation of test units, the interval of a paired bootstrap. Both speak "
    "of these two checkpoints, and neither says which would be better once fine-tuned."
)
"""What every table of two probes says."""


class Incomparable(Enum):
    """Why two numbers of one dataset say nothing of each other; the value is how a table begins to say it."""

    LEARNER = "other learner"
    SPLIT = "other split"
    DATA = "other data"
    METRICS = "other version of the metrics"
    EXAMPLES = "other units were scored"


@dataclass(frozen=True)
class Line:
    """One dataset, task type or the score, of two sides.

    :param name: what is compared
    :param before: mean of the first side, None if it is not there
    :param after: mean of the other
    :param runs: how many each has
    :param comparison: after minus before
    :param p: two-sided, corrected over the datasets; None if it cannot be known
    :param reason: why it cannot be judged; empty if it can
    :param incomparable: the reason, where it is that the numbers say nothing of each other
    """

    name: str
    before: float | None
    after: float | None
    runs: tuple[int, int]
    comparison: Comparison
    p: float | None = None
    reason: str = ""
    incomparable: Incomparable | None = None

    @property
    def difference(self) -> float | None:
        """After minus before, in points."""
        return self.comparison.difference

    def verdict(self, level: float) -> str:
        """In words."""
        if self.p is None:
            return f"cannot judge: {self.reason}"
        if self.p < level:
            return "higher" if (self.difference or 0) > 0 else "lower"
        return "no difference shown"


def judge(
    first: RowScores, other: RowScores, split: Split, with_units: bool, only: Collection[str] | None = None
) -> list[Line]:
    """All datasets that either side has, in the paper's order, then task types and score where they are there whole.

    p-values are corrected over the datasets (Holm); the score and the task types are sums of these and stand alone.

    :param with_units: also count the choice of the test units, where predictions of both are at hand
    :param only: these datasets alone; None: all that either side has
    """
    there = {*first.means(split), *other.means(split), *_elsewhere(first, split), *_elsewhere(other, split)}
    names = [task.name for task in tasks.all() if task.name in there]
    names += sorted(there - set(names))  # tasks that are not installed here
    names = [name for name in names if only is None or name in only]
    lines = [_dataset(name, first, other, split, with_units) for name in names]
    corrected = holm([line.comparison.p for line in lines])
    lines = [replace(line, p=p) for line, p in zip(lines, corrected, strict=True)]
    by_name = {line.name: line for line in lines}
    groups = {**type_weights(), SCORE: weights()}
    return lines + [
        line for name, shares in groups.items() if (line := _mean(name, shares, by_name)) and len(shares) > 1
    ]


def _dataset(name: str, first: RowScores, other: RowScores, split: Split, with_units: bool) -> Line:
    before, after = _shown(first, name, split), _shown(other, name, split)
    sides = other.values(name, split), first.values(name, split)
    runs = (len(sides[1]), len(sides[0]))
    if before is None or after is None:
        return Line(name, before, after, runs, Comparison(None), reason="not there on one side")
    plain = Line(name, before, after, runs, Comparison(after - before))
    if found := differing(name, first, other, split):
        return replace(plain, incomparable=found[0], reason=found[1])
    if first.probe or other.probe:
        return _paired(plain, first, other, split)
    if 0 in runs:
        return replace(plain, reason="a number without runs")
    if runs == (1, 1):
        return replace(plain, reason=_hint(name, first, other, split) if with_units else "one run a side")
    variance, clusters = _unit_variance(name, first, other, split) if with_units else (0.0, 0)
    result = compare(*sides, variance, clusters)
    reason = "" if result.error else "no run differs from another"
    return replace(plain, comparison=result, reason=reason)


def _paired(line: Line, first: RowScores, other: RowScores, split: Split) -> Line:
    """The line of two rows without runs: a paired test over test units, of these checkpoints and no others."""
    both = _units(line.name, first, other, split)
    if both is None or both[0].runs != 1 or both[1].runs != 1:
        return replace(line, reason="probes are compared unit by unit, and predictions on the same units are not there")
    error = math.sqrt(bootstrap.difference_variance(*both, line.name))
    draws = permutation.swapped(*both, line.name)
    clusters = len(both[0].names)
    freedom = clusters - 1 if error and clusters > 1 else None
    return replace(line, comparison=Comparison(line.difference, error, freedom, draws))


def _shown(row: RowScores, name: str, split: Split) -> float | None:
    """The mean of a dataset; of numbers without runs that of test, whichever split is asked for."""
    dataset = row.datasets.get(name)
    mean = None if dataset is None else dataset.mean(split)
    return mean if dataset is None or mean is not None else dataset.means.get("test")


def _elsewhere(row: RowScores, split: Split) -> dict[str, float]:
    """Means without runs that are of another split: shown, and compared with nothing."""
    return {} if split == "test" else {name: one.means["test"] for name, one in row.datasets.items() if one.means}


def differing(name: str, first: RowScores, other: RowScores, split: Split) -> tuple[Incomparable, str] | None:
    """Why the numbers of a dataset cannot be compared, and in words: what is known of both and is not the same."""
    learners = {first.learner, other.learner}
    if PROBE in learners and learners - {PROBE, "baseline"}:
        return _because(Incomparable.LEARNER, "a probe and a fine-tuned encoder are not measured alike")
    if name in _elsewhere(first, split) or name in _elsewhere(other, split):
        return _because(Incomparable.SPLIT, "means without runs are of test")
    both = first.datasets[name], other.datasets[name]
    if len({hash_ for one in both for hash_ in one.known("data_hash")}) > 1:  # or seeds of one row on several data
        return Incomparable.DATA, Incomparable.DATA.value
    if len({version for one in both for version in one.known("metrics_version")}) > 1:
        return _because(Incomparable.METRICS, "run blurb rescore")
    most = [one.limit("max_eval") for one in both]
    if most[0] != most[1] and any(most):  # a limit on one side: of a number without runs none is known
        limits = ["not known" if count is None else f"at most {count:,}" if count else "all" for count in most]
        return _because(Incomparable.EXAMPLES, f"{limits[0]} on one side, {limits[1]} on the other")
    return None


def _because(kind: Incomparable, words: str) -> tuple[Incomparable, str]:
    return kind, f"{kind.value}: {words}"


def _hint(name: str, first: RowScores, other: RowScores, split: Split) -> str:
    """Why two single runs say nothing of their encoders, and what they say of themselves."""
    both = _units(name, first, other, split)
    if both is None:
        return "one run a side"
    p = permutation.randomised(*both, name)
    return f"one run a side (test units alone, which is these two runs and not their encoders: p {probability(p)})"


def _unit_variance(name: str, first: RowScores, other: RowScores, split: Split) -> tuple[float, int]:
    """Variance of the difference over test units, and their number; nothing where it cannot be known."""
    both = _units(name, first, other, split)
    return (0.0, 0) if both is None else (bootstrap.difference_variance(*both, name), len(both[0].names))


def _units(name: str, first: RowScores, other: RowScores, split: Split) -> tuple[Clusters, Clusters] | None:
    """The units of both sides; None without predictions, or if they are not the same units."""
    records = first.records_of(name), other.records_of(name)
    if not records[0] or not records[1]:
        return None
    both = predictions.load(records[0], split), predictions.load(records[1], split)
    if both[0] is None or both[1] is None or both[0].names != both[1].names:
        return None
    return both[0], both[1]


def _mean(name: str, shares: Mapping[str, float], lines: Mapping[str, Line]) -> Line | None:
    """The line of a weighted mean; None unless both sides have all of it."""
    parts = [lines.get(task) for task in shares]
    if any(part is None or part.before is None or part.after is None for part in parts):
        return None
    whole = [(shares[part.name], part) for part in parts if part is not None]
    found = combined([(share, part.comparison) for share, part in whole])
    return Line(
        name,
        sum(share * (part.before or 0.0) for share, part in whole),
        sum(share * (part.after or 0.0) for share, part in whole),
        (min(part.runs[0] for _, part in whole), min(part.runs[1] for _, part in whole)),
        found,
        found.p,
        next((f"{part.name}: {part.reason}" for _, part in whole if part.reason and not part.comparison.error), ""),
    )


def flips(
    first: RowScores, other: RowScores, name: str, split: Split
) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """Test units of a dataset that became worse, and better, by how many mistakes a run; the largest changes first.

    A unit counts if it changed by half a mistake a run or more (a tenth of the scale, for similarity, in points of it).
    """
    records = first.records_of(name), other.records_of(name)
    if not records[0] or not records[1]:
        return [], []
    before, after = predictions.mistakes(records[0], split), predictions.mistakes(records[1], split)
    changes = [(unit, after[unit] - before[unit]) for unit in before if unit in after]
    threshold = 0.5
    order = sorted(changes, key=lambda change: (-abs(change[1]), change[0]))
    return (
        [change for change in order if change[1] >= threshold],
        [change for change in order if change[1] <= -threshold],
    )


def has_paired(lines: Iterable[Line]) -> bool:
    """Whether any line is of a paired test."""
    return any(line.comparison.paired for line in lines)


def common(lines: Sequence[Line]) -> list[Line]:
    """The datasets that both sides have."""
    return [line for line in lines if line.before is not None and line.after is not None]
