"""`baseline:bigrams`: linear models of words and pairs of words, with scikit-learn.

The strength of the penalty and the shift towards rarer answers are chosen as those of the probe are
(`blurb.learners.linear`). The fits do not depend on the seed, which only samples examples.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from torch import Tensor

from blurb.checkpoints.source import ModelSource
from blurb.formulations._base import Formulation
from blurb.inputs.features import Features, Ragged
from blurb.learners.base import History, Predicted, Progress, Subset
from blurb.learners.baselines.features import WindowFeatures, feature_pipeline, sentence_of
from blurb.learners.linear import (
    FEW,
    LinearLearner,
    Read,
    assign_folds,
    best_shift,
    check_head,
    rarer_answers,
    scored_items,
)
from blurb.protocols.settings import Where, unknown_origin
from blurb.training.crf_fit import FittedChain

log = logging.getLogger(__name__)

STRENGTHS = {
    "single": (1.0, 0.3, 0.1),
    "multi": (1.0, 0.3, 0.1),
    "tokens": (0.1, 0.01, 0.001),
    "regression": (30.0, 10.0, 3.0, 1.0, 0.3, 0.1),
}
"""Strengths of the penalty by kind of problem (scikit-learn's `1 / C`, a ridge's `alpha`), from strong to weak; once
a fit is worse than the one before, weaker ones are skipped."""
STEPS = 1_000
CLOSE = 1e-2
"""liblinear's tolerance; with 1e-4 the scores on dev are the same."""
PASSES = 5
"""Passes over the words in stochastic gradient descent; twice as many gained less than half a point on dev."""


def check(source: ModelSource, formulation: Formulation, where: Where = unknown_origin) -> None:
    """Raises a SettingsError if words have tags and the head is not a linear model."""
    if formulation.kind == "tokens":
        check_head(formulation, source.weights, where)


@dataclass(frozen=True)
class LinearModel:
    """A fitted model.

    :param weight: (outputs, features)
    :param bias: (outputs,)
    """

    weight: npt.NDArray[np.float64]
    bias: npt.NDArray[np.float64]

    def scores(self, matrix: Any) -> Tensor:
        """(rows, outputs), logits or numbers."""
        return torch.from_numpy(np.asarray(matrix @ self.weight.T + self.bias, dtype=np.float32))


@dataclass(frozen=True)
class _Part:
    """Rows to fit on with their answers, and examples with their rows to choose by."""

    known: Any
    answers: Any
    units: Sequence[Any]
    held_out: Any


class Bigrams(LinearLearner):
    """A linear model on fixed features of the examples."""

    model: LinearModel
    chain: FittedChain | None = None
    shift: Tensor

    def fit(self, train: Subset, dev: Subset, seed: int, progress: Progress) -> History:
        rows, answers = train.used, self._targets(train.used)
        self.features = self._features(len(rows))
        matrix = self.features.fit_transform(rows)
        fold = None if scored_items(self.formulation, dev.used) >= FEW else assign_folds(rows)
        self.facts.update(
            chosen_by="dev" if fold is None else f"{len(set(fold))} folds of train",
            features=matrix.shape[1],
        )
        if fold is None:
            parts = [_Part(matrix, answers, dev.used, self.features.transform(dev.used))]
        else:
            parts = [self._part(rows, answers, fold == number) for number in sorted(set(fold))]
        history = self._path(parts, answers, progress)
        if fold is not None:
            self.model = self._solve(matrix, answers, self.facts["strength"])
        if self._has_chain:
            self.chain = self._chain(
                self.model.scores(matrix), torch.from_numpy(answers), self._read(rows)
            )
        return history

    def _path(self, parts: Sequence[_Part], answers: Any, progress: Progress) -> History:
        """Tries the strengths; leaves the last model that was best in `model`, its choices in `facts`."""
        strengths = STRENGTHS[self.problem.kind]
        rarer = rarer_answers(torch.from_numpy(answers), self.problem)
        units = [unit for part in parts for unit in part.units]
        read = self._read(units)
        history: History = []
        for number, strength in enumerate(strengths, 1):
            models = [self._solve(part.known, part.answers, strength) for part in parts]
            scores = torch.cat(
                [model.scores(part.held_out) for model, part in zip(models, parts, strict=True)]
            )
            shift, score = best_shift(
                lambda shifted: self.formulation.score_of(
                    units, self._output(units, read, shifted)[0]
                ),
                scores,
                rarer,
            )
            if not history or score > max(line["dev"] for line in history):
                self.model, self.shift = models[0], shift * rarer
                self.facts.update(strength=strength, shift=shift)
            history.append({"strength": strength, "shift": shift, "dev": score})
            log.info("strength %g, shift %g: dev %.4f", *history[-1].values())
            progress(number, len(strengths))
            if len(history) > 1 and score < history[-2]["dev"]:
                break
        progress(len(strengths), len(strengths))
        return history

    def predict(self, units: Subset) -> Predicted:
        scores, read = (
            self.model.scores(self.features.transform(units.used)),
            self._read(units.used),
        )
        output = self._output(units.used, read, scores + self.shift, self.chain)
        return Predicted(*output, None if self.chain else self._losses(units.used, read, scores))

    def _features(self, units: int) -> Any:
        if self.problem.kind == "tokens":
            return WindowFeatures(self.formulation.settings.window)
        return feature_pipeline(self.formulation, units)

    def _part(self, rows: Sequence[Any], answers: Any, held: npt.NDArray[np.bool_]) -> _Part:
        """The other folds to fit on, features included, and the held one to choose by."""
        kept, held_out = (
            [row for row, out in zip(rows, held, strict=True) if out == side]
            for side in (False, True)
        )
        features = self._features(len(kept))
        of_rows = held[sentence_of(rows)] if self.problem.kind == "tokens" else held
        return _Part(
            features.fit_transform(kept), answers[~of_rows], held_out, features.transform(held_out)
        )

    def _targets(self, units: Sequence[Any]) -> npt.NDArray[Any]:
        """(rows,), or (units, labels) for several labels; rows are words for tags, else units."""
        targets = self.formulation.targets(units)
        return targets.values if isinstance(targets, Ragged) else np.asarray(targets)

    def _solve(self, matrix: Any, answers: Any, strength: float) -> LinearModel:
        """Independent binary fits, one a label; of two classes the second against the first."""
        if self.problem.kind == "regression":
            ridge = Ridge(alpha=strength).fit(matrix, answers)
            return LinearModel(np.atleast_2d(ridge.coef_), np.atleast_1d(ridge.intercept_))
        several, labels = answers.ndim == 2, len(self.problem.labels)
        weight, bias = np.zeros((labels, matrix.shape[1])), np.zeros(labels)
        for label in range(1 if labels == 2 and not several else 0, labels):
            positive = answers[:, label] > 0 if several else answers == label
            weight[label], bias[label] = self._binary(matrix, positive, strength)
        return LinearModel(weight, bias)

    def _binary(
        self, matrix: Any, positive: npt.NDArray[np.bool_], strength: float
    ) -> tuple[Any, float]:
        """Weights and bias of one label; of one that all rows have, or none, its smoothed frequency."""
        count = int(positive.sum())
        if count in (0, len(positive)):
            return 0.0, float(np.log((count + 0.5) / (len(positive) - count + 0.5)))
        if self.problem.kind == "tokens":
            solver = SGDClassifier(
                loss="log_loss",
                alpha=strength / len(positive),
                max_iter=PASSES,
                tol=None,
                average=True,
                random_state=0,
            )
        else:
            solver = LogisticRegression(
                C=1 / strength,
                solver="liblinear",
                dual=True,
                tol=CLOSE,
                max_iter=STEPS,
                random_state=0,
            )
        solver.fit(matrix, positive)
        return solver.coef_[0], float(solver.intercept_[0])

    def _read(self, units: Sequence[Any]) -> Read:
        words = None
        if self.problem.kind == "tokens":
            words = Ragged.of(range(len(unit["tokens"])) for unit in units)
        return Read(Features(Ragged.of([[]] * len(units)), np.arange(len(units)), word_ids=words))
