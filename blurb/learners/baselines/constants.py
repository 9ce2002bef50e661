"""Trivial baselines that ignore the input, as a lower bound for scores."""

from __future__ import annotations

from typing import Any

from blurb.formulations._base import Output
from blurb.learners.base import History, Learner, Progress, Subset


class Majority(Learner):
    """Always predicts the most frequent answer of the training data (for similarity the mean)."""

    answer: Any

    def fit(self, train: Subset, dev: Subset, seed: int, progress: Progress) -> History:
        self.answer = self.formulation.constants(train.used)[0]
        self.facts["answer"] = str(self.answer)
        return []

    def predict(self, units: Subset) -> Output:
        return [self.formulation.constant(self.answer, unit) for unit in units.used], None


class Constant(Majority):
    """Always predicts the constant answer that scores best on the training data."""

    def fit(self, train: Subset, dev: Subset, seed: int, progress: Progress) -> History:
        rows = train.used

        def score(answer: Any) -> float:
            return self.formulation.score_of(
                rows, [self.formulation.constant(answer, unit) for unit in rows]
            )

        self.answer = max(self.formulation.constants(rows), key=score)
        self.facts["answer"] = str(self.answer)
        return []
