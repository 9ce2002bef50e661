"""Signals of a row beside other rows: all its figures may follow from its predictions, and these not be its own.

Each test is at the share of the stated rate that falls to it, so that an honest row has a signal in at most that many
cases over all of them together (Bonferroni). The tests assume that honest rows scatter normally around each other.
Runs are one run where they have the same predictions, or nearly the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import product, starmap
from pathlib import Path
from statistics import fmean, mode, stdev
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from blurb import formulations, learners, tasks
from blurb.data.schema import leaked_ids
from blurb.extensions.board.consistency import Signal, SignalKind
from blurb.grouping import by_key
from blurb.messages import DataError
from blurb.row_files.reading import RowFiles, run_predictions
from blurb.row_files.scores import examples_of, figures_of
from blurb.row_files.writing import RowRecord, RunRecord
from blurb.scoring import matching
from blurb.statistics.welch import t_critical

FEW = 100
"""Examples below which two runs may well give the same labels; numbers are never the same by chance."""
MANY = 300
"""Examples from which runs that agree on more than `NEAR` of them are told."""
NEAR = 0.99
TELLING = 20
"""Answers by which two runs can be told apart at all: neither both right nor both the most frequent answer.

Models that have collapsed agree on the most frequent answer, and excellent ones on what is right.
"""
SHARED = 0.8
"""Share of these on which near copies agree. Two honest runs share fewer of their mistakes."""


@dataclass(frozen=True)
class RunAnswers:
    """The answers of a run on test, by the order of ids, as hashes; each array is (examples,).

    :param usual: whether it is the run's most frequent answer
    :param right: whether it is the gold answer; False where that is not known
    """

    ids: NDArray[np.int64]
    answers: NDArray[np.int64]
    usual: NDArray[np.bool_]
    right: NDArray[np.bool_]
    are_numbers: bool

    def at(self, ids: NDArray[np.int64]) -> RunAnswers:
        """The answers of some ids."""
        places = np.searchsorted(self.ids, ids)
        return RunAnswers(
            ids, self.answers[places], self.usual[places], self.right[places], self.are_numbers
        )


def plain(answer: Any) -> str:
    """An answer as text; that of tags which are all alike does not depend on their number.

    >>> plain(["O", "O"]), plain(["O"]), plain([]), plain("yes")
    ("'O'", "'O'", '[]', "'yes'")
    """
    alike = isinstance(answer, list) and answer and all(each == answer[0] for each in answer)
    return repr(answer[0] if alike else answer)


@cache
def _answers(row: RowFiles, task: str, seed: int, data: Path | None) -> RunAnswers:
    run = next(run for run in row.by_task[task] if run["seed"] == seed)
    right: set[str] = set()
    if data is not None:
        with suppress(DataError):
            _, columns = examples_of(row, run, "test", data)
            cells = zip(columns["id"], columns["gold"], columns["prediction"], strict=True)
            right = {key for key, gold, prediction in cells if gold == prediction}
    pairs = run_predictions(row, run, "test")
    texts = [plain(answer) for _, answer in pairs]
    most = mode(texts) if texts else ""
    ids = np.array([hash(key) for key, _ in pairs], dtype=np.int64)
    order = np.argsort(ids)
    return RunAnswers(
        ids[order],
        np.array([hash(text) for text in texts], dtype=np.int64)[order],
        np.array([text == most for text in texts], dtype=bool)[order],
        np.array([key in right for key, _ in pairs], dtype=bool)[order],
        all(isinstance(answer, float) for _, answer in pairs),
    )


def alike(first: RunAnswers, other: RunAnswers) -> float:
    """The share of equal answers of two runs that are hardly two runs; 0 if they may well be."""
    if not np.array_equal(first.ids, other.ids):
        ids = np.intersect1d(first.ids, other.ids)
        first, other = first.at(ids), other.at(ids)
    same = first.answers == other.answers
    unusual = ~(first.usual & other.usual & same)
    if first.are_numbers and other.are_numbers:
        return float(same.size > 0 and same.all() and unusual.any())
    if same.size >= FEW and same.all() and unusual.sum() >= TELLING:
        return 1.0
    telling = unusual & ~(first.right & other.right)
    near = same.size >= MANY and same.mean() > NEAR and telling.sum() >= TELLING
    return float(same.mean()) if near and same[telling].mean() > SHARED else 0.0


def equal_seed_pairs(
    row: RowFiles, runs: Sequence[RunRecord], data: Path | None
) -> list[tuple[int, int, float]]:
    """The pairs of seeds of a dataset that are hardly two runs, with the share of equal answers."""
    answers = [_answers(row, run["task"], run["seed"], data) for run in runs]
    return [
        (runs[first]["seed"], runs[second]["seed"], share)
        for second in range(len(runs))
        for first in range(second)
        if (share := alike(answers[first], answers[second]))
    ]


def equal_share(row: RowFiles, other: RowFiles, task: str, data: Path | None = None) -> float:
    """The largest share of equal answers of a run of each row, if they are hardly two runs; else 0.

    :param data: a data folder, by which runs are told from copies that agree on what is right
    """
    answers = [
        [_answers(side, task, run["seed"], data) for run in side.by_task.get(task, ())]
        for side in (row, other)
    ]
    return max(starmap(alike, product(*answers)), default=0.0)


def shown(share: float) -> str:
    """The share of equal predictions in words.

    >>> shown(1.0), shown(0.9951)
    ('the same predictions', '99.5 % of the predictions the same')
    """
    return (
        "the same predictions" if share == 1 else f"{100 * share:.1f} % of the predictions the same"
    )


RATE = 0.01
"""Honest rows that may have a signal of these."""
SMALLEST = 0.1
"""Points that rows differ by at least: with few leaked examples several may have the very same figure by chance, and
runs without chance are all alike."""
ENOUGH = 3
"""Reference rows without which their scatter says nothing."""
MODEL = ("weights", "tokenizer", "learner")
RUNS = (*MODEL, "recipe", "protocol_hash", "overrides")
"""Fields that rows share whose runs are of one recipe."""


FIGURES = {
    SignalKind.GAP: "test minus dev is",
    SignalKind.LEAKED: "test examples whose input occurs in train add to the score",
}
T = TypeVar("T")
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
    data: Path | None = None
    leaked: Callable[[RowFiles], Measured] = field(default=lambda row: {})

    def signals(self) -> list[Signal]:
        """Everything odd, by dataset."""
        measures = {
            SignalKind.GAP: self._beside(_gap),
            SignalKind.LEAKED: self._beside(self.leaked),
        }
        share = RATE / max(1, sum(map(len, measures.values())) + len(self._pooled))
        return [
            *(each for kind, pairs in measures.items() for each in _excessive(kind, pairs, share)),
            *self._pooled_signals(share),
            *self._answer_signals(),
        ]

    def _beside(
        self, measure: Callable[[RowFiles], Measured]
    ) -> Mapping[str, tuple[float, list[float]]]:
        """Dataset -> a figure of the row, and of each other row on the same data; with enough of these."""
        if len(self.others) < ENOUGH:
            return {}
        others = by_key(figure for other in self.others for figure in measure(other).items())
        return _with_enough(measure(self.row), others)

    @cached_property
    def _pooled(self) -> Mapping[str, tuple[list[float], list[float]]]:
        """Dataset -> test scores of the row's runs, and of enough runs of other rows of its recipe."""
        alike = [other for other in self.others if not differing(self.row.about, other.about, RUNS)]
        return _with_enough(_scores([self.row]), _scores(alike))

    def _pooled_signals(self, share: float) -> Iterator[Signal]:
        """Student's test, as honest runs of one recipe have one variance: Welch's is too free with three runs of ours.

        Where the variance of three runs is small by chance, it takes the difference for sure.
        """
        for task, (own, pool) in self._pooled.items():
            freedom = len(own) + len(pool) - 2
            squares = sum((score - fmean(side)) ** 2 for side in (own, pool) for score in side)
            deviation = max(math.sqrt(squares / freedom), SMALLEST)
            error = deviation * math.sqrt(1 / len(own) + 1 / len(pool))
            difference = fmean(own) - fmean(pool)
            if difference > t_critical(freedom, 2 * share) * error:
                yield Signal(
                    SignalKind.BETTER,
                    task,
                    f"{fmean(own):.2f}, {difference:+.2f} beside {len(pool)} runs of these weights "
                    "under this recipe",
                )

    def _answer_signals(self) -> Iterator[Signal]:
        """Predictions of a row of another model, or of this one."""
        if learners.is_named(self.row.about["weights"]):
            return
        for task in self.row.by_task:
            for other in self.others:
                # Another row of this model, by a kind of learner whose seed changes nothing, is no copy.
                if not (self.row.varies or differing(self.row.about, other.about, MODEL)):
                    continue
                if share := equal_share(self.row, other, task, self.data):
                    yield Signal(
                        SignalKind.COPIED, task, f"{shown(share)} as {other.about['model']}"
                    )


def _excessive(
    kind: SignalKind, pairs: Mapping[str, tuple[float, list[float]]], share: float
) -> Iterator[Signal]:
    """The datasets on which a figure is above what a further row like the others would have."""
    for task, (figure, others) in pairs.items():
        error = max(stdev(others), SMALLEST) * math.sqrt(1 + 1 / len(others))
        highest = fmean(others) + t_critical(len(others) - 1, 2 * share) * error
        if figure > highest:
            yield Signal(
                kind,
                task,
                f"{FIGURES[kind]} {figure:+.2f}; of {len(others)} other rows {fmean(others):+.2f}, "
                f"at most {highest:+.2f}",
            )


def _gap(row: RowFiles) -> Measured:
    """Mean of test minus dev over the runs that have both, times 100."""
    return _means(
        (run, 100 * (run["test"][run["metric"]] - run["dev"][run["metric"]]))
        for run in row.about["runs"]
        if run["dev"] and run["test"]
    )


def _means(points: Iterable[tuple[RunRecord, float]]) -> Measured:
    return {key: fmean(values) for key, values in _by_data(points).items()}


def _by_data(points: Iterable[tuple[RunRecord, float]]) -> dict[tuple[str, str], list[float]]:
    """(dataset, data hash) -> the figures of runs."""
    return by_key(((run["task"], run["data"]), value) for run, value in points)


def _scores(rows: Iterable[RowFiles]) -> dict[tuple[str, str], list[float]]:
    """(dataset, data hash) -> scores of runs on test, times 100."""
    return _by_data(
        (run, 100 * run["test"][run["metric"]])
        for row in rows
        for run in row.about["runs"]
        if run["test"]
    )


def differing(about: RowRecord, other: RowRecord, names: Iterable[str]) -> list[str]:
    """The fields among these that are not the same of both rows."""
    return [name for name in names if dict(about)[name] != dict(other)[name]]


def _with_enough(
    mine: Mapping[tuple[str, str], T], others: Mapping[tuple[str, str], list[float]]
) -> dict[str, tuple[T, list[float]]]:
    """Dataset -> what a row has, and the figures of others on the same data, where these are enough."""
    return {
        key[0]: (own, others[key])
        for key, own in mine.items()
        if len(others.get(key, ())) >= ENOUGH
    }


@cache
def added(row: RowFiles, data: Path) -> Measured:
    """(dataset, data hash) -> mean over runs of the score minus the score without these examples, times 100.

    Datasets without such examples are left out, and so are those that cannot be scored.
    """
    points: list[tuple[RunRecord, float]] = []
    for run in row.about["runs"]:
        with suppress(DataError):
            formulation = formulations.bind(tasks.get(run["task"]), run["settings"])
            ids = _leaked(run["task"], tuple(sorted(formulation.options.items())), data)
            if ids and run["test"]:
                scores = [
                    figures_of(row, run, "test", data, without)[run["metric"]]
                    for without in ((), ids)
                ]
                points.append((run, 100 * (scores[0] - scores[1])))
    return _means(points)


@cache
def _leaked(task: str, options: tuple[tuple[str, Any], ...], data: Path) -> frozenset[str]:
    """The ids of these examples, as a formulation with these options cuts them."""
    formulation = formulations.bind(tasks.get(task), dict(options))
    return frozenset(
        leaked_ids(
            {split: matching.units_of(formulation, data, split) for split in ("train", "test")}
        )
    )
