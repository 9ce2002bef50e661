"""What is odd about a row beside other rows: all its figures may follow from its predictions, and these not be its own.

Each test is at the share of the stated rate that falls to it, so that an honest row has a signal in at most that many
cases over all of them together (Bonferroni). The tests assume that honest rows scatter normally around each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from blurb import learners
from blurb.board.reading import Row
from blurb.board.signals import Signal, SignalKind
from blurb.statistics.student import t_critical
from blurb.statistics.welch import compare

RATE = 0.01
"""Honest rows that may have a signal of these."""
ENOUGH = 3
"""Reference rows without which their scatter says nothing."""
RUNS = ("weights", "tokenizer", "learner", "recipe", "protocol_hash", "overrides")
"""What rows have in common whose runs are of one recipe."""


@dataclass(frozen=True)
class Beside:
    """A row and the rows that it stands beside.

    :param others: rows that were recomputed, of any models; none of them is the row itself
    """

    row: Row
    others: Sequence[Row]
    rate: float = RATE

    def signals(self) -> list[Signal]:
        """Everything odd, by dataset."""
        share = self.rate / max(1, len(self._gaps()) + len(self._pooled()))
        return [*self._of_gaps(share), *self._of_pooled(share), *self._of_answers()]

    def _gaps(self) -> Mapping[str, tuple[float, list[float]]]:
        """Dataset -> test minus dev of the row, and of each other row on the same data; with enough of these."""
        mine, others = _gap(self.row), [_gap(other) for other in self.others]
        gaps = {key: (value, [gap[key] for gap in others if key in gap]) for key, value in mine.items()}
        return {task: pair for (task, _), pair in gaps.items() if len(pair[1]) >= ENOUGH}

    def _of_gaps(self, share: float) -> Iterator[Signal]:
        for task, (gap, others) in self._gaps().items():
            error = max(stdev(others), 1e-6) * math.sqrt(1 + 1 / len(others))
            highest = fmean(others) + t_critical(len(others) - 1, 2 * share) * error
            if gap > highest:
                usual = f"{len(others)} other rows {fmean(others):+.2f}, at most {highest:+.2f}"
                yield Signal(SignalKind.GAP, task, f"test minus dev is {gap:+.2f}; of {usual}")

    def _pooled(self) -> Mapping[str, tuple[list[float], list[float]]]:
        """Dataset -> test scores of the row's runs, and of enough runs of other rows of its recipe."""
        about = dict(self.row.about)
        alike = [other for other in self.others if all(dict(other.about)[name] == about[name] for name in RUNS)]
        mine, others = _scores(self.row), [_scores(other) for other in alike]
        pools = {key: (value, [score for each in others for score in each.get(key, ())]) for key, value in mine.items()}
        return {task: pair for (task, _), pair in pools.items() if len(pair[1]) >= ENOUGH}

    def _of_pooled(self, share: float) -> Iterator[Signal]:
        for task, (mine, pool) in self._pooled().items():
            comparison = compare(mine, pool)
            if not comparison.standard_error or comparison.degrees_of_freedom is None or comparison.difference is None:
                continue
            if comparison.difference > t_critical(comparison.degrees_of_freedom, 2 * share) * comparison.standard_error:
                usual = f"{comparison.difference:+.2f} beside {len(pool)} runs of these weights under this recipe"
                yield Signal(SignalKind.BETTER, task, f"{fmean(mine):.2f}, {usual}")

    def _of_answers(self) -> Iterator[Signal]:
        """Predictions of a row of another model, or of this one."""
        if self.row.about["weights"].startswith(learners.PREFIX):
            return
        for task in self.row.answers:
            for other in self.others:
                if self.row.answers[task] & other.answers.get(task, frozenset()):
                    yield Signal(SignalKind.COPIED, task, f"the same predictions as {other.about['model']}")


def _gap(row: Row) -> dict[tuple[str, str], float]:
    """(dataset, data hash) -> mean of test minus dev over the runs that have both, times 100."""
    gaps: dict[tuple[str, str], list[float]] = {}
    for run in row.about["runs"]:
        if run["dev"] and run["test"]:
            metric = run["metric"]
            gaps.setdefault((run["task"], run["data"]), []).append(100 * (run["test"][metric] - run["dev"][metric]))
    return {key: fmean(values) for key, values in gaps.items()}


def _scores(row: Row) -> dict[tuple[str, str], list[float]]:
    """(dataset, data hash) -> scores on test, times 100."""
    scores: dict[tuple[str, str], list[float]] = {}
    for run in row.about["runs"]:
        if run["test"]:
            scores.setdefault((run["task"], run["data"]), []).append(100 * run["test"][run["metric"]])
    return scores
