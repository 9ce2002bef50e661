"""Baselines that read nothing: what a score has to be compared with."""

from __future__ import annotations

from typing import Any

from blurb.formulations._base import Formulation, Output
from blurb.models._base import History, Learner, Progress, Units


class Majority(Learner):
    """Always the most frequent answer of the training data (the mean for similarity)."""

    answer: Any

    def __init__(self, formulation: Formulation) -> None:
        super().__init__(formulation)

    def fit(self, train: Units, dev: Units, seed: int, progress: Progress) -> History:
        self.answer = self.formulation.constants(train.used)[0]
        self.facts["answer"] = str(self.answer)
        return []

    def predict(self, units: Units) -> Output:
        return [self.formulation.constant(self.answer, unit) for unit in units.used], None


class Constant(Majority):
    """The one answer that scores best on the training data when it is always given: the best trivial predictor."""

    def fit(self, train: Units, dev: Units, seed: int, progress: Progress) -> History:
        rows = train.used
        gold = [self.formulation.gold(unit) for unit in rows]
        documents = [unit.get("doc_id") for unit in rows]

        def score(answer: Any) -> float:
            predicted = [self.formulation.constant(answer, unit) for unit in rows]
            return self.formulation.main_metric(self.formulation.score(gold, predicted, documents))

        self.answer = max(self.formulation.constants(rows), key=score)
        self.facts["answer"] = str(self.answer)
        return []


BASELINES: dict[str, type[Learner]] = {"majority": Majority, "constant": Constant}
