"""What is odd about a row beside other rows: all its figures may follow from its predictions, and these not be its own.

Each test is at the share of the stated rate that falls to it, so that an honest row has a signal in at most that many
cases over all of them together (Bonferroni). The tests assume that honest rows scatter normally around each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from blurb import formulations, learners, tasks
from blurb.data.schema import leaks
from blurb.extensions.board import copies
from blurb.extensions.board.signals import Signal, SignalKind
from blurb.messages.errors import DataError
from blurb.row_files.reading import RowFiles
from blurb.row_files.scores import figures_of
from blurb.scoring import gold
from blurb.statistics.welch import t_critical

RATE = 0.01
"""Honest rows that may have a signal of these."""
SMALLEST = 0.1
"""Points that rows differ by at least: with few leaked examples several may have the very same figure by chance, and
runs without chance are all alike."""
ENOUGH = 3
"""Reference rows without which their scatter says nothing."""
MODEL = ("weights", "tokenizer", "learner")
RUNS = (*MODEL, "recipe", "protocol_hash", "overrides")
"""What rows have in common whose runs are of one recipe."""


FIGURES = {
    SignalKind.GAP: "test minus dev is",
    SignalKind.LEAKED: "test examples whose input occurs in train add to the score",
}
Measured = Mapping[tuple[str, str], float]
"""(dataset, data hash) -> a figure of a row."""


@dataclass(frozen=True)
class Beside:
    """A row and the rows that it stands beside.

    :param others: rows that were recomputed, of any models; none of them is the row itself
    :param data: the verifier's data folder, by which copies are told from runs that agree on what is right
    :param leaked: of a row: what the test examples whose input occurs in train add to its score, times 100
    """

    row: RowFiles
    others: Sequence[RowFiles]
    rate: float = RATE
    data: Path | None = None
    leaked: Callable[[RowFiles], Measured] = field(default=lambda row: {})

    def signals(self) -> list[Signal]:
        """Everything odd, by dataset."""
        measures = {SignalKind.GAP: self._beside(_gap), SignalKind.LEAKED: self._beside(self.leaked)}
        share = self.rate / max(1, sum(map(len, measures.values())) + len(self._pooled()))
        excessive = (signal for kind, pairs in measures.items() for signal in _excessive(kind, pairs, share))
        return [*excessive, *self._of_pooled(share), *self._of_answers()]

    def _beside(self, measure: Callable[[RowFiles], Measured]) -> Mapping[str, tuple[float, list[float]]]:
        """Dataset -> a figure of the row, and of each other row on the same data; with enough of these."""
        if len(self.others) < ENOUGH:
            return {}
        mine, others = measure(self.row), [measure(other) for other in self.others]
        figures = {key: (value, [each[key] for each in others if key in each]) for key, value in mine.items()}
        return {task: pair for (task, _), pair in figures.items() if len(pair[1]) >= ENOUGH}

    def _pooled(self) -> Mapping[str, tuple[list[float], list[float]]]:
        """Dataset -> test scores of the row's runs, and of enough runs of other rows of its recipe."""
        about = dict(self.row.about)
        alike = [other for other in self.others if all(dict(other.about)[name] == about[name] for name in RUNS)]
        mine, others = _scores(self.row), [_scores(other) for other in alike]
        pools = {key: (value, [score for each in others for score in each.get(key, ())]) for key, value in mine.items()}
        return {task: pair for (task, _), pair in pools.items() if len(pair[1]) >= ENOUGH}

    def _of_pooled(self, share: float) -> Iterator[Signal]:
        """Student's test, as honest runs of one recipe have one variance: Welch's is too free with three runs of ours.

        Where the variance of three runs is small by chance, it takes the difference for sure.
        """
        for task, (mine, pool) in self._pooled().items():
            freedom = len(mine) + len(pool) - 2
            squares = sum((score - fmean(side)) ** 2 for side in (mine, pool) for score in side)
            deviation = max(math.sqrt(squares / freedom), SMALLEST)
            error = deviation * math.sqrt(1 / len(mine) + 1 / len(pool))
            difference = fmean(mine) - fmean(pool)
            if difference > t_critical(freedom, 2 * share) * error:
                usual = f"{difference:+.2f} beside {len(pool)} runs of these weights under this recipe"
                yield Signal(SignalKind.BETTER, task, f"{fmean(mine):.2f}, {usual}")

    def _of_answers(self) -> Iterator[Signal]:
        """Predictions of a row of another model, or of this one."""
        if learners.is_named(self.row.about["weights"]):
            return
        for task in dict.fromkeys(run["task"] for run in self.row.about["runs"]):
            for other in self.others:
                if share := 0.0 if self._is_again(other) else copies.of_rows(self.row, other, task, self.data):
                    yield Signal(SignalKind.COPIED, task, f"{copies.shown(share)} as {other.about['model']}")

    def _is_again(self, other: RowFiles) -> bool:
        """Whether another row is of the same model, by a kind of learner whose seed changes nothing."""
        alike = all(dict(self.row.about)[name] == dict(other.about)[name] for name in MODEL)
        return alike and not self.row.varies


def _excessive(kind: SignalKind, pairs: Mapping[str, tuple[float, list[float]]], share: float) -> Iterator[Signal]:
    """The datasets on which a figure is above what a further row like the others would have."""
    for task, (figure, others) in pairs.items():
        error = max(stdev(others), SMALLEST) * math.sqrt(1 + 1 / len(others))
        highest = fmean(others) + t_critical(len(others) - 1, 2 * share) * error
        if figure > highest:
            usual = f"{len(others)} other rows {fmean(others):+.2f}, at most {highest:+.2f}"
            yield Signal(kind, task, f"{FIGURES[kind]} {figure:+.2f}; of {usual}")


def _gap(row: RowFiles) -> Measured:
    """Mean of test minus dev over the runs that have both, times 100."""
    gaps: dict[tuple[str, str], list[float]] = {}
    for run in row.about["runs"]:
        if run["dev"] and run["test"]:
            metric = run["metric"]
            gaps.setdefault((run["task"], run["data"]), []).append(100 * (run["test"][metric] - run["dev"][metric]))
    return {key: fmean(values) for key, values in gaps.items()}


def _scores(row: RowFiles) -> dict[tuple[str, str], list[float]]:
    """(dataset, data hash) -> scores on test, times 100."""
    scores: dict[tuple[str, str], list[float]] = {}
    for run in row.about["runs"]:
        if run["test"]:
            scores.setdefault((run["task"], run["data"]), []).append(100 * run["test"][run["metric"]])
    return scores


@cache
def added(row: RowFiles, data: Path) -> Mapping[tuple[str, str], float]:
    """(dataset, data hash) -> mean over runs of the score minus the score without these examples, times 100.

    Datasets without such examples are left out, and so are those that cannot be scored.
    """
    points: dict[tuple[str, str], list[float]] = {}
    for run in row.about["runs"]:
        with suppress(DataError):
            formulation = formulations.bind(tasks.get(run["task"]), run["settings"])
            ids = _leaked(run["task"], tuple(sorted(formulation.options.items())), data)
            if ids and run["test"]:
                metric = run["metric"]
                scores = [figures_of(row, run, "test", data, without)[metric] for without in ((), ids)]
                points.setdefault((run["task"], run["data"]), []).append(100 * (scores[0] - scores[1]))
    return {key: fmean(values) for key, values in points.items()}


@cache
def _leaked(task: str, options: tuple[tuple[str, Any], ...], data: Path) -> frozenset[str]:
    """The ids of these examples, as a formulation with these options cuts them."""
    formulation = formulations.bind(tasks.get(task), dict(options))
    return frozenset(leaks({split: gold.units(formulation, data, split) for split in ("train", "test")}))
