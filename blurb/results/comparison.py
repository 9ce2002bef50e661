"""Compares two rows by dataset, task type and score: which differences exceed the noise of seeds and test examples?

`blurb compare` and `blurb check` both show the results of one function, `compare_rows`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from blurb import tasks
from blurb.results import predictions
from blurb.results.row_scores import RowScores
from blurb.results.score import dataset_weights, type_weights
from blurb.runs.spec import PROBE
from blurb.statistics import bootstrap, permutation
from blurb.statistics.clusters import Clusters
from blurb.statistics.holm import holm
from blurb.statistics.welch import Comparison, combined, compare
from blurb.tasks import Split
from blurb.wording import probability

SCORE = "score"
PAIRED = (
    "Probes have no runs: p is from a paired permutation test over test examples, the interval from a paired "
    "bootstrap. Both are about these two checkpoints and do not tell which will be better after fine-tuning."
)
"""Note below every comparison of two probes."""
FLIP = 0.5
"""Least change in mistakes per run of an example that counts as changed."""


class Incomparable(Enum):
    """Why two numbers of one dataset are not comparable; the value is the beginning of the message."""

    LEARNER = "different learners"
    SPLIT = "different splits"
    DATA = "different data"
    METRICS = "different versions of the metrics"
    EXAMPLES = "different examples were scored"


@dataclass(frozen=True)
class ScoreComparison:
    """The comparison of two rows on one dataset, task type or the score.

    :param name: the dataset, task type or score
    :param before: mean of the first row, None if missing
    :param after: mean of the other row, None if missing
    :param runs: numbers of runs of both
    :param comparison: after minus before
    :param p: two-sided p-value, corrected over the datasets; None if unknown
    :param reason: why there is no verdict, else ""
    :param incomparable: kind of that reason, if the numbers are not comparable
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
        """After minus before, in points; None if unknown."""
        return self.comparison.difference

    def verdict(self, level: float) -> str:
        """The verdict as text."""
        if self.p is None:
            return f"cannot judge: {self.reason}"
        if self.p < level:
            return "higher" if (self.difference or 0) > 0 else "lower"
        return "no difference shown"


def compare_rows(
    first: RowScores, other: RowScores, split: Split, with_units: bool, only: Collection[str] | None = None
) -> list[ScoreComparison]:
    """Compares two rows: all datasets of either row in the paper's order, then complete task types and the score.

    p-values are corrected over the datasets (Holm); those of score and task types, which are sums of datasets, are not.

    :param with_units: include the variance from the choice of test examples, if both rows have predictions
    :param only: compare only these datasets; None: all datasets of either row
    """
    there = {*first.means(split), *other.means(split), *_elsewhere(first, split), *_elsewhere(other, split)}
    names = [task.name for task in tasks.all() if task.name in there]
    names += sorted(there - set(names))  # tasks that are not installed here
    names = [name for name in names if only is None or name in only]
    lines = [_dataset(name, first, other, split, with_units) for name in names]
    corrected = holm([line.comparison.p for line in lines])
    lines = [replace(line, p=p) for line, p in zip(lines, corrected, strict=True)]
    by_name = {line.name: line for line in lines}
    groups = {**type_weights(), SCORE: dataset_weights()}
    return lines + [
        line for name, shares in groups.items() if (line := _mean(name, shares, by_name)) and len(shares) > 1
    ]


def _dataset(name: str, first: RowScores, other: RowScores, split: Split, with_units: bool) -> ScoreComparison:
    before, after = _shown(first, name, split), _shown(other, name, split)
    sides = first.values(name, split), other.values(name, split)
    runs = (len(sides[0]), len(sides[1]))
    if before is None or after is None:
        return ScoreComparison(name, before, after, runs, Comparison(None), reason="missing in one row")
    plain = ScoreComparison(name, before, after, runs, Comparison(after - before))
    if difference := differing(name, first, other, split):
        return replace(plain, incomparable=difference[0], reason=difference[1])
    if first.probe or other.probe:
        return _paired(plain, first, other, split)
    if 0 in runs:
        return replace(plain, reason="a number without runs")
    if runs == (1, 1):
        return replace(plain, reason=_hint(name, first, other, split) if with_units else "one run each")
    variance, clusters = _unit_variance(name, first, other, split) if with_units else (0.0, 0)
    result = compare(sides[1], sides[0], variance, clusters)
    reason = "" if result.standard_error else "no variance between runs"
    return replace(plain, comparison=result, reason=reason)


def _paired(line: ScoreComparison, first: RowScores, other: RowScores, split: Split) -> ScoreComparison:
    """The line of two probes: a paired test over test examples, valid for these two checkpoints only."""
    both = _units(line.name, first, other, split)
    if both is None or both[0].runs != 1 or both[1].runs != 1:
        return replace(line, reason="comparing probes needs the predictions of both on the same examples")
    error = math.sqrt(bootstrap.difference_variance(*both, line.name))
    draws = permutation.swapped(*both, line.name)
    clusters = len(both[0].names)
    degrees_of_freedom = clusters - 1 if error and clusters > 1 else None
    return replace(line, comparison=Comparison(line.difference, error, degrees_of_freedom, draws))


def _shown(row: RowScores, name: str, split: Split) -> float | None:
    """The mean of a dataset; for numbers without runs always that of test."""
    dataset = row.datasets.get(name)
    mean = None if dataset is None else dataset.mean(split)
    return mean if dataset is None or mean is not None else dataset.means.get("test")


def _elsewhere(row: RowScores, split: Split) -> dict[str, float]:
    """Means without runs from a split other than `split`: shown but never compared."""
    return {} if split == "test" else {name: one.means["test"] for name, one in row.datasets.items() if one.means}


def differing(name: str, first: RowScores, other: RowScores, split: Split) -> tuple[Incomparable, str] | None:
    """Why the numbers of a dataset are not comparable, as kind and text; None if nothing known differs."""
    learners = {first.learner, other.learner}
    if PROBE in learners and learners - {PROBE, "baseline"}:
        return _because(Incomparable.LEARNER, "a probe is not comparable with a fine-tuned encoder")
    if name in _elsewhere(first, split) or name in _elsewhere(other, split):
        return _because(Incomparable.SPLIT, "numbers without runs are from test")
    both = first.datasets[name], other.datasets[name]
    if len({hash_ for one in both for hash_ in one.known("data_hash")}) > 1:  # or seeds of one row on several data
        return Incomparable.DATA, Incomparable.DATA.value
    if len({version for one in both for version in one.known("metrics_version")}) > 1:
        return _because(Incomparable.METRICS, "run blurb rescore on both")
    most = [one.limit("max_eval") for one in both]
    if most[0] != most[1] and any(most):  # a limit on one side: of a number without runs none is known
        limits = ["unknown" if count is None else f"at most {count:,}" if count else "all" for count in most]
        return _because(Incomparable.EXAMPLES, f"{limits[0]} in one row, {limits[1]} in the other")
    seeds = [one.limit("eval_seed") for one in both]
    if any(most) and None not in seeds and seeds[0] != seeds[1]:
        return _because(Incomparable.EXAMPLES, "they were sampled with different seeds (eval_seed)")
    return None


def _because(kind: Incomparable, words: str) -> tuple[Incomparable, str]:
    return kind, f"{kind.value}: {words}"


def _hint(name: str, first: RowScores, other: RowScores, split: Split) -> str:
    """Why two single runs get no verdict, with the p-value for these two runs."""
    both = _units(name, first, other, split)
    if both is None:
        return "one run each"
    p = permutation.paired_permutation_test(*both, name)
    return f"one run each (p {probability(p)} over test examples, valid for these two runs but not for their encoders)"


def _unit_variance(name: str, first: RowScores, other: RowScores, split: Split) -> tuple[float, int]:
    """Variance of the difference over test examples, and number of their clusters; zeros if unknown."""
    both = _units(name, first, other, split)
    return (0.0, 0) if both is None else (bootstrap.difference_variance(*both, name), len(both[0].names))


def _units(name: str, first: RowScores, other: RowScores, split: Split) -> tuple[Clusters, Clusters] | None:
    """The scored examples of both rows; None without predictions, or if the examples differ."""
    records = first.records_of(name), other.records_of(name)
    if not records[0] or not records[1]:
        return None
    both = predictions.load(records[0], split), predictions.load(records[1], split)
    if both[0] is None or both[1] is None or both[0].names != both[1].names:
        return None
    return both[0], both[1]


def _mean(name: str, shares: Mapping[str, float], lines: Mapping[str, ScoreComparison]) -> ScoreComparison | None:
    """The line of a weighted mean; None unless both rows have all of its datasets."""
    parts = [lines.get(task) for task in shares]
    if any(part is None or part.before is None or part.after is None for part in parts):
        return None
    whole = [(shares[part.name], part) for part in parts if part is not None]
    mean = combined([(share, part.comparison) for share, part in whole])
    return ScoreComparison(
        name,
        sum(share * (part.before or 0.0) for share, part in whole),
        sum(share * (part.after or 0.0) for share, part in whole),
        (min(part.runs[0] for _, part in whole), min(part.runs[1] for _, part in whole)),
        mean,
        mean.p,
        next(
            (f"{part.name}: {part.reason}" for _, part in whole if part.reason and not part.comparison.standard_error),
            "",
        ),
    )


def flips(
    first: RowScores, other: RowScores, name: str, split: Split
) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """Examples that became worse, and better, with the change in mistakes per run; the largest changes first.

    An example counts if it changed by at least `FLIP` mistakes per run; the mistake of a similarity is its distance.
    """
    records = first.records_of(name), other.records_of(name)
    if not records[0] or not records[1]:
        return [], []
    before, after = predictions.mistakes(records[0], split), predictions.mistakes(records[1], split)
    changes = [(unit, after[unit] - before[unit]) for unit in before if unit in after]
    order = sorted(changes, key=lambda change: (-abs(change[1]), change[0]))
    return (
        [change for change in order if change[1] >= FLIP],
        [change for change in order if change[1] <= -FLIP],
    )


def has_paired(lines: Iterable[ScoreComparison]) -> bool:
    """Whether any line has a paired test."""
    return any(line.comparison.paired for line in lines)
