"""Runs that are one run: with the same predictions, or with nearly the same ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blurb.messages.errors import DataError
from blurb.row_files.reading import RowFiles, of_run
from blurb.row_files.scores import examples_of
from blurb.row_files.writing import RunRecord

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
        if np.array_equal(ids, self.ids):
            return self
        places = np.searchsorted(self.ids, ids)
        return RunAnswers(ids, self.answers[places], self.usual[places], self.right[places], self.are_numbers)


def plain(answer: Any) -> str:
    """An answer as text; that of tags which are all alike does not depend on their number.

    >>> plain(["O", "O"]), plain(["O"]), plain([]), plain("yes")
    ("'O'", "'O'", '[]', "'yes'")
    """
    alike = isinstance(answer, list) and answer and all(each == answer[0] for each in answer)
    return repr(answer[0] if alike else answer)


@cache
def _answers(row: RowFiles, task: str, seed: int, data: Path | None) -> RunAnswers:
    run = next(run for run in row.about["runs"] if (run["task"], run["seed"]) == (task, seed))
    right: set[str] = set()
    if data is not None:
        with suppress(DataError):
            _, columns = examples_of(row, run, "test", data)
            cells = zip(columns["id"], columns["gold"], columns["prediction"], strict=True)
            right = {key for key, gold, prediction in cells if gold == prediction}
    pairs = of_run(row, run, "test")
    texts = [plain(answer) for _, answer in pairs]
    most = Counter(texts).most_common(1)[0][0] if texts else ""
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


def of_seeds(row: RowFiles, runs: Sequence[RunRecord], data: Path | None) -> list[tuple[int, int, float]]:
    """The pairs of seeds of a dataset that are hardly two runs, with the share of equal answers."""
    answers = [_answers(row, run["task"], run["seed"], data) for run in runs]
    return [
        (runs[first]["seed"], runs[second]["seed"], share)
        for second in range(len(runs))
        for first in range(second)
        if (share := alike(answers[first], answers[second]))
    ]


def of_rows(row: RowFiles, other: RowFiles, task: str, data: Path | None = None) -> float:
    """The largest share of equal answers of a run of each row, if they are hardly two runs; else 0.

    :param data: a data folder, by which runs are told from copies that agree on what is right
    """
    seeds = [[run["seed"] for run in side.about["runs"] if run["task"] == task] for side in (row, other)]
    pairs = ((first, second) for first in seeds[0] for second in seeds[1])
    shares = (alike(_answers(row, task, first, data), _answers(other, task, second, data)) for first, second in pairs)
    return max(shares, default=0.0)


def shown(share: float) -> str:
    """The share of equal predictions in words.

    >>> shown(1.0), shown(0.9951)
    ('the same predictions', '99.5 % of the predictions the same')
    """
    return "the same predictions" if share == 1 else f"{100 * share:.1f} % of the predictions the same"
