"""The learner that leaves the encoder as it is: a linear model on its vectors, one deterministic fit.

It says how much of a task lies open in a checkpoint. It does not say how good the encoder will be once it is fine-tuned
(docs/protocols.md).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from blurb.errors import SettingsError, TrainingError
from blurb.formulations._base import Formulation, Output
from blurb.heads import heads
from blurb.heads._base import Problem
from blurb.heads._spec import parse
from blurb.heads.linear import decide
from blurb.inputs.features import Ragged
from blurb.models._base import History, Learner, Progress, Units
from blurb.models.frozen import LAYERS
from blurb.models.probe_vectors import Ints, Read, Reader
from blurb.models.source import Source
from blurb.protocols.settings import Where, shown, unsaid
from blurb.training.chain_fit import Chained, fit_chain
from blurb.training.hardware import Precision, choose_device, seed_everything
from blurb.training.linear import Design, Fit, moments, solve

log = logging.getLogger(__name__)

HEADS = ("linear", "crf")
STRENGTHS = (3000.0, 600.0, 120.0, 25.0, 5.0, 1.0)
"""Of the penalty on standardised features (scikit-learn's `1 / C`, a ridge's `alpha`), from strong to weak, so that
each fit begins with the one before; once one is worse than the one before, weaker ones are not tried."""
SHIFTS = (0.0, 0.4, 0.8, 1.2, 1.6, 2.0)
"""By how much the bias may lean to the rarer answers (1.2: a label from a probability of 0.23 on): a likelihood is not
an F1, least of all where one answer in thirty is positive (HoC)."""
FEW = 200
"""Below so many things that dev scores (units; of HoC documents) layer and strength are chosen by cross-validation
within train: the standard error of an accuracy of 70 % is above 3 points there, more than lies between the choices."""
FOLDS = 5


def check(formulation: Formulation, where: Where = unsaid) -> None:
    """SettingsError if a head is no linear model, or does not serve the task.

    :param where: where the settings come from, for the message
    """
    settings = formulation.settings
    head, _ = parse(heads, settings.head)
    named = shown(settings, "head", where)
    if all(head is not heads.get(name) for name in HEADS):
        raise SettingsError(
            f"A probe fits linear models: its head is {' or '.join(HEADS)} (NER and PICO), not {named}."
        )
    if formulation.kind not in head.kinds:
        raise SettingsError(f"The head {named} does not serve {formulation.task.name} ({formulation.kind}).")


@dataclass(frozen=True)
class Chosen:
    """What was fitted in the end, on the vectors of one layer."""

    layer: int
    mean: Tensor
    sd: Tensor
    fit: Fit
    chain: Chained | None = None


@dataclass(frozen=True)
class _Judged:
    """The units that layer and strength are chosen on.

    :param fold: (rows,) where these are the training units, and each is scored by a fit on the other folds
    """

    units: Sequence[Any]
    read: Read
    fold: Ints | None = None


@dataclass(frozen=True)
class _Split:
    """Rows that are known with their answers, rows that are asked, and the places of these."""

    known: Design
    answers: Tensor
    asked: Design
    places: Tensor


class ProbeLearner(Learner):
    """A frozen encoder and a linear model; seeds draw subsets of units and nothing else.

    :param device: `auto` or a torch device: of the forward pass, the fit is on the CPU
    :param precision: as resolved, never `auto`
    """

    chosen: Chosen
    best = -np.inf
    reader: Reader

    def __init__(self, source: Source, formulation: Formulation, device: str, precision: Precision) -> None:
        super().__init__(formulation)
        self.source = source
        self.device = choose_device(device)
        self.precision = precision
        self.problem = Problem(formulation.kind, formulation.labels, formulation.scheme)

    def fit(self, train: Units, dev: Units, seed: int, progress: Progress) -> History:
        check(self.formulation)
        seed_everything(seed)  # new tokens are embedded at random
        self.reader = Reader(self.source, self.formulation, self.device, self.precision, train, self.facts)
        read = self.reader.read(train)
        targets = self._targets(train, read)
        folds = None if self._scored(dev) >= FEW else _folds(train.used)
        self.facts["chosen_by"] = "dev" if folds is None else f"{folds.max() + 1} folds of train"
        judged = (
            _Judged(dev.used, self.reader.read(dev)) if folds is None else _Judged(train.used, read, folds[read.units])
        )
        history: History = []
        for layer in range(len(LAYERS)):
            history += self._path(layer, read, targets, judged, progress)
        progress(len(LAYERS) * len(STRENGTHS), len(LAYERS) * len(STRENGTHS))
        if parse(heads, self.formulation.settings.head)[0] is heads.get("crf"):
            self._chain(read, targets)
        return history

    def _path(self, layer: int, read: Read, targets: Tensor, judged: _Judged, progress: Progress) -> History:
        """Fits on one layer, from the strongest penalty on; keeps the best of all layers so far in `chosen`."""
        name = LAYERS[layer]
        mean, sd = moments(self._joined(read, layer))
        design = self._design(read, layer, mean, sd)
        splits = self._splits(design, targets, judged, layer, mean, sd)
        crossed: list[Fit | None] = [None] * len(splits)
        rarer = _rarer(targets, self.problem)
        history: History = []
        fit: Fit | None = None
        for number, strength in enumerate(STRENGTHS, 1):
            fit = self._solve(design, targets, strength, fit)
            if not np.isfinite(fit.loss):
                raise TrainingError(f"The fit on the {name} layer has no finite loss: its vectors are no numbers.")
            scores = torch.zeros(len(judged.read.units), len(self.problem.labels))
            for place, split in enumerate(splits):
                used = (
                    fit if split.known is design else self._solve(split.known, split.answers, strength, crossed[place])
                )
                crossed[place] = used
                scores[split.places] = used.scores(split.asked)
            shift, score = self._shift(judged, scores, rarer)
            history.append({"layer": name, "strength": strength, "shift": shift, "loss": fit.loss, "dev": score})
            log.info("%s layer, strength %g, shift %g: loss %.4f, dev %.4f", *history[-1].values())
            if score > self.best:
                self.best = score
                self.chosen = Chosen(layer, mean, sd, replace(fit, bias=fit.bias + shift * rarer))
                self.facts.update(layer=name, strength=strength, shift=shift)
            progress(layer * len(STRENGTHS) + number, len(LAYERS) * len(STRENGTHS))
            if len(history) > 1 and score < history[-2]["dev"]:
                break
        return history

    def predict(self, units: Units) -> Output:
        read = self.reader.read(units)
        design = self._design(read, self.chosen.layer, self.chosen.mean, self.chosen.sd)
        return self._output(units.used, read, self.chosen.fit.scores(design), self.chosen.chain)

    def _scored(self, units: Units) -> int:
        """How many things the score is over: units, or their documents."""
        if not self.formulation.by_document:
            return len(units.used)
        names = [unit.get("doc_id") for unit in units.used]
        return len({name for name in names if name is not None}) + names.count(None)

    def _joined(self, read: Read, layer: int) -> Tensor:
        """What the linear model reads, before standardisation, (rows, size), float32."""
        return torch.from_numpy(self.formulation.joined([array.astype(np.float32) for array in read.layers[layer]]))

    def _design(self, read: Read, layer: int, mean: Tensor, sd: Tensor) -> Design:
        return Design((self._joined(read, layer) - mean) / sd, read.neighbours())

    def _targets(self, units: Units, read: Read) -> Tensor:
        """(rows,), or (rows, labels)."""
        targets = self.formulation.targets(units.used)
        features = read.features
        if isinstance(targets, Ragged):
            assert features.words is not None
            words = map(features.words.__getitem__, range(len(features)))
            rows = [targets[unit][places] for unit, places in zip(features.unit, words, strict=True)]
            return torch.from_numpy(np.concatenate(rows) if rows else np.zeros(0, np.int64))
        return torch.from_numpy(np.asarray(targets)[features.unit])

    def _solve(self, design: Design, targets: Tensor, strength: float, start: Fit | None) -> Fit:
        return solve(design, targets, self.problem.kind, len(self.problem.labels), strength, start)

    def _splits(
        self, design: Design, targets: Tensor, judged: _Judged, layer: int, mean: Tensor, sd: Tensor
    ) -> list[_Split]:
        """What is fitted and what is asked: train and dev, or each fold with the others."""
        if judged.fold is None:
            other = self._design(judged.read, layer, mean, sd)
            return [_Split(design, targets, other, torch.arange(len(other)))]
        found = []
        for number in range(int(judged.fold.max()) + 1):
            held = torch.from_numpy(judged.fold == number)
            found.append(_Split(design.take(~held), targets[~held], design.take(held), held.nonzero().squeeze(1)))
        return found

    def _shift(self, judged: _Judged, scores: Tensor, rarer: Tensor) -> tuple[float, float]:
        """By how much the bias should lean to the rarer answers, and the score then; the least of equals."""
        shifts = SHIFTS if rarer.any() else SHIFTS[:1]
        found = {shift: self._score(judged, scores + shift * rarer) for shift in shifts}
        shift = max(found, key=lambda one: found[one])
        return shift, found[shift]

    def _score(self, judged: _Judged, scores: Tensor) -> float:
        predicted, _ = self._output(judged.units, judged.read, scores)
        gold = [self.formulation.gold(unit) for unit in judged.units]
        documents = [unit.get("doc_id") for unit in judged.units]
        return self.formulation.main_metric(self.formulation.score(gold, predicted, documents))

    def _output(self, units: Sequence[Any], read: Read, scores: Tensor, chain: Chained | None = None) -> Output:
        """Predictions by name from scores (rows, outputs)."""
        if chain is None:
            predicted, sure = decide(self.problem.kind, scores)
        else:
            predicted, sure = chain.decode(scores, torch.from_numpy(read.units))
        one, two = predicted.numpy(), sure.numpy()
        if read.features.words is not None:
            cuts = read.features.words.offsets[1:-1]
            return self.formulation.output(units, read.features, np.split(one, cuts), np.split(two, cuts))
        return self.formulation.output(units, read.features, list(one), list(two))

    def _chain(self, read: Read, targets: Tensor) -> None:
        """A linear chain above the chosen fit, whose scores stay as they are."""
        chosen = self.chosen
        scores = chosen.fit.scores(self._design(read, chosen.layer, chosen.mean, chosen.sd))
        constrained = bool(parse(heads, self.formulation.settings.head)[1].get("constrained", False))
        chain = fit_chain(scores, targets, torch.from_numpy(read.units), self.problem, constrained)
        self.chosen = replace(chosen, chain=chain)


def _rarer(targets: Tensor, problem: Problem) -> Tensor:
    """(outputs,), 1 for answers that a shift favours: every label, or every class but the most frequent; 0 for tags.

    An entity needs its whole span: of words, no shift helped on dev.
    """
    found = torch.zeros(len(problem.labels))
    if problem.kind in ("multi", "single"):
        found += 1
    if problem.kind == "single":
        found[int(torch.bincount(targets, minlength=len(found)).argmax())] = 0
    return found


def _folds(units: Sequence[Any]) -> Ints:
    """The fold of each unit; units of a document are in one."""
    names = [number if unit.get("doc_id") is None else unit["doc_id"] for number, unit in enumerate(units)]
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    count = max(2, min(FOLDS, len(places)))
    # Not in the order of the file, which may be that of the answers.
    dealt = np.random.default_rng(0).permutation(len(places)) % count
    return np.array([dealt[places[name]] for name in names], dtype=np.int64)
