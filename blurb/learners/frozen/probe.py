"""The learner with a frozen encoder: one deterministic fit of a linear model on its vectors.

It measures how much of a task a linear model can read from a checkpoint, not how good the encoder is after fine-tuning
(docs/protocols.md).
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from blurb.checkpoints import ModelSource
from blurb.formulations._base import Formulation
from blurb.inputs.features import Ints, Ragged
from blurb.learners.base import History, Predicted, Progress, Subset
from blurb.learners.frozen.encoder import LAYERS, Reader
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
from blurb.messages import TrainingError
from blurb.protocols.settings import Where, unknown_origin
from blurb.training.crf_fit import FittedChain
from blurb.training.hardware import Precision, choose_device, seed_everything
from blurb.training.linear import Design, Fit, feature_moments, solve_linear

log = logging.getLogger(__name__)

STRENGTHS = (3000.0, 600.0, 120.0, 25.0, 5.0, 1.0)
"""Strengths of the penalty on standardised features (scikit-learn's `1 / C`, a ridge's `alpha`), from strong to weak:
each fit starts from the previous one, and once a fit is worse than that, weaker ones are skipped."""


def check(source: ModelSource, formulation: Formulation, where: Where = unknown_origin) -> None:
    """Raises a SettingsError if the head is not a linear model or does not support the task.

    :param where: origin of the settings, for the message
    """
    check_head(formulation, "A probe", where)


@dataclass(frozen=True)
class ChosenLayer:
    """The chosen model, fitted on the vectors of one layer.

    :param fit: with the `shift` of its bias, (outputs,)
    """

    layer: int
    mean: Tensor
    sd: Tensor
    fit: Fit
    shift: Tensor
    chain: FittedChain | None = None


@dataclass(frozen=True)
class _Examples:
    """The examples on which layer and strength are chosen.

    :param fold: (rows,) if these are the training examples, each scored by a fit on the other folds
    """

    units: Sequence[Any]
    read: Read
    fold: Ints | None = None


@dataclass(frozen=True)
class _Split:
    """Rows to fit on with their answers, rows to predict, and the indices of the latter."""

    known: Design
    answers: Tensor
    held_out: Design
    places: Tensor


class ProbeLearner(LinearLearner):
    """A frozen encoder and a linear model. The seed only affects random subsets of examples.

    :param device: `auto` or a torch device for the forward pass; the fit runs on the CPU
    :param precision: resolved precision, never `auto`
    """

    chosen: ChosenLayer
    best = -np.inf
    reader: Reader

    def __init__(
        self, source: ModelSource, formulation: Formulation, device: str, precision: Precision
    ) -> None:
        super().__init__(formulation)
        self.source = source
        self.device = choose_device(device)
        self.precision = precision

    def fit(self, train: Subset, dev: Subset, seed: int, progress: Progress) -> History:
        check(self.source, self.formulation)
        seed_everything(seed)  # new tokens are embedded at random
        self.reader = Reader(
            self.source, self.formulation, self.device, self.precision, train, self.facts
        )
        read = self.reader.read(train)
        targets = self._targets(train, read)
        fold = None if scored_items(self.formulation, dev.used) >= FEW else assign_folds(train.used)
        self.facts["chosen_by"] = "dev" if fold is None else f"{fold.max() + 1} folds of train"
        judged = (
            _Examples(dev.used, self.reader.read(dev))
            if fold is None
            else _Examples(train.used, read, fold[read.units])
        )
        history: History = []
        for layer in range(len(LAYERS)):
            history += self._path(layer, read, targets, judged, progress)
        progress(len(LAYERS) * len(STRENGTHS), len(LAYERS) * len(STRENGTHS))
        if self._has_chain:
            self.chosen = replace(self.chosen, chain=self._chain(self._scores(read), targets, read))
        return history

    def _path(
        self, layer: int, read: Read, targets: Tensor, judged: _Examples, progress: Progress
    ) -> History:
        """Fits on one layer, starting with the strongest penalty; keeps the best fit of all layers in `chosen`."""
        name = LAYERS[layer]
        mean, sd = feature_moments(self._joined(read, layer))
        design = self._design(read, layer, mean, sd)
        splits = self._splits(design, targets, judged, layer, mean, sd)
        crossed: list[Fit | None] = [None] * len(splits)
        rarer = rarer_answers(targets, self.problem)
        history: History = []
        fit: Fit | None = None
        for number, strength in enumerate(STRENGTHS, 1):
            fit = self._solve(design, targets, strength, fit)
            if not np.isfinite(fit.loss):
                raise TrainingError(
                    f"The fit on the {name} layer has no finite loss; the encoder's vectors are NaN or infinite."
                )
            scores = torch.zeros(len(judged.read.units), len(self.problem.labels))
            for place, split in enumerate(splits):
                crossed[place] = used = (
                    fit
                    if split.known is design
                    else self._solve(split.known, split.answers, strength, crossed[place])
                )
                scores[split.places] = used.scores(split.held_out)
            shift, score = best_shift(functools.partial(self._score, judged), scores, rarer)
            history.append(
                {
                    "layer": name,
                    "strength": strength,
                    "shift": shift,
                    "loss": fit.loss,
                    "dev": score,
                }
            )
            log.info("%s layer, strength %g, shift %g: loss %.4f, dev %.4f", *history[-1].values())
            if score > self.best:
                self.best = score
                self.chosen = ChosenLayer(
                    layer, mean, sd, replace(fit, bias=fit.bias + shift * rarer), shift * rarer
                )
                self.facts.update(layer=name, strength=strength, shift=shift)
            progress(layer * len(STRENGTHS) + number, len(LAYERS) * len(STRENGTHS))
            if len(history) > 1 and score < history[-2]["dev"]:
                break
        return history

    def predict(self, units: Subset) -> Predicted:
        read = self.reader.read(units)
        chosen, scores = self.chosen, self._scores(read)
        output = self._output(units.used, read, scores, chosen.chain)
        return Predicted(
            *output, None if chosen.chain else self._losses(units.used, read, scores - chosen.shift)
        )

    def _scores(self, read: Read) -> Tensor:
        chosen = self.chosen
        return chosen.fit.scores(self._design(read, chosen.layer, chosen.mean, chosen.sd))

    def _joined(self, read: Read, layer: int) -> Tensor:
        """The features of the linear model before standardisation, (rows, size), float32."""
        return torch.from_numpy(
            self.formulation.joined([array.astype(np.float32) for array in read.layers[layer]])
        )

    def _design(self, read: Read, layer: int, mean: Tensor, sd: Tensor) -> Design:
        return Design((self._joined(read, layer) - mean) / sd, read.neighbours())

    def _targets(self, units: Subset, read: Read) -> Tensor:
        """The targets, (rows,) or (rows, labels)."""
        targets = self.formulation.targets(units.used)
        features = read.features
        if isinstance(targets, Ragged):
            assert features.word_ids is not None
            words = map(features.word_ids.__getitem__, range(len(features)))
            rows = [
                targets[unit][places]
                for unit, places in zip(features.example_index, words, strict=True)
            ]
            return torch.from_numpy(np.concatenate(rows) if rows else np.zeros(0, np.int64))
        return torch.from_numpy(np.asarray(targets)[features.example_index])

    def _solve(self, design: Design, targets: Tensor, strength: float, start: Fit | None) -> Fit:
        return solve_linear(
            design, targets, self.problem.kind, len(self.problem.labels), strength, start
        )

    def _splits(
        self,
        design: Design,
        targets: Tensor,
        judged: _Examples,
        layer: int,
        mean: Tensor,
        sd: Tensor,
    ) -> list[_Split]:
        """Pairs of rows to fit and rows to predict: train and dev, or the other folds and each fold."""
        if judged.fold is None:
            other = self._design(judged.read, layer, mean, sd)
            return [_Split(design, targets, other, torch.arange(len(other)))]
        splits = []
        for number in range(int(judged.fold.max()) + 1):
            held = torch.from_numpy(judged.fold == number)
            splits.append(
                _Split(
                    design.take(~held), targets[~held], design.take(held), held.nonzero().squeeze(1)
                )
            )
        return splits

    def _score(self, judged: _Examples, scores: Tensor) -> float:
        predicted, _ = self._output(judged.units, judged.read, scores)
        return self.formulation.score_of(judged.units, predicted)
