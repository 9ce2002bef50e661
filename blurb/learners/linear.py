"""Linear models on features that stay: chosen by the score on dev, or by folds of train where dev is small."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from blurb.formulations._base import Formulation, Output
from blurb.heads import Problem, heads
from blurb.heads._spec import parse_spec
from blurb.heads.linear import decide_labels
from blurb.inputs.features import Features, Ints
from blurb.learners.base import Learner
from blurb.messages import SettingsError
from blurb.protocols.settings import Where, show_setting, unknown_origin
from blurb.training.crf_fit import FittedChain, fit_chain

SHIFTS = (0.0, 0.4, 0.8, 1.2, 1.6, 2.0)
"""Candidate shifts of the bias towards rarer answers (1.2: a label needs a probability of 0.23 only): the best
likelihood is not the best F1, least of all if one answer in thirty is positive (HoC)."""
FEW = 200
"""With fewer scored items in dev (examples; for HoC documents), a model is chosen by cross-validation in train: the
standard error of an accuracy of 70 % is then above 3 points, more than the choices differ."""
FOLDS = 5
HEADS = ("linear", "crf")


def check_head(formulation: Formulation, who: str, where: Where = unknown_origin) -> None:
    """Raises a SettingsError if the head is not a linear model or does not support the task.

    :param who: what fits linear models only, for the message
    :param where: origin of the settings, for the message
    """
    settings = formulation.settings
    head, _ = parse_spec(heads, settings.head)
    named = show_setting(settings, "head", where)
    if all(head is not heads.get(name) for name in HEADS):
        raise SettingsError(
            f"{who} fits linear models only: the head must be {' or '.join(HEADS)} (NER and PICO), not {named}."
        )
    formulation.check_head(head.kinds, where)


def scored_items(formulation: Formulation, units: Sequence[Any]) -> int:
    """Number of scored items: examples, or their documents."""
    if not formulation.by_document:
        return len(units)
    names = [unit.get("doc_id") for unit in units]
    return len({name for name in names if name is not None}) + names.count(None)


def assign_folds(units: Sequence[Any]) -> Ints | None:
    """The fold of each example; a document is never split. None for one document, which would leave nothing to fit."""
    names = [
        number if unit.get("doc_id") is None else unit["doc_id"]
        for number, unit in enumerate(units)
    ]
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    if len(places) < 2:
        return None
    # Not in the order of the file, which may follow the answers.
    dealt = np.random.default_rng(0).permutation(len(places)) % min(FOLDS, len(places))
    return np.array([dealt[places[name]] for name in names], dtype=np.int64)


def rarer_answers(targets: Tensor, problem: Problem) -> Tensor:
    """(outputs,), 1 for answers that a shift favours: every label, or every class but the most frequent; 0 for tags.

    For tags no shift helped on dev, as an entity needs its whole span.
    """
    offsets = torch.zeros(len(problem.labels))
    if problem.kind in ("multi", "single"):
        offsets += 1
    if problem.kind == "single":
        offsets[int(torch.bincount(targets, minlength=len(offsets)).argmax())] = 0
    return offsets


def best_shift(
    score: Callable[[Tensor], float], scores: Tensor, rarer: Tensor
) -> tuple[float, float]:
    """The best shift of the bias towards rarer answers, and its score; the smallest shift if tied.

    :param score: the task's score of the answers behind scores (rows, outputs)
    """
    found = {
        shift: score(scores + shift * rarer) for shift in (SHIFTS if rarer.any() else SHIFTS[:1])
    }
    shift = max(found, key=lambda one: found[one])
    return shift, found[shift]


@dataclass(frozen=True)
class Read:
    """The inputs of some units, and how rows of a design belong to them.

    :param features: the inputs, as the formulation's `output` takes them
    :param layers: of a probe, for each of `frozen.encoder.LAYERS` the vectors of each of `frozen_features`
    """

    features: Features
    layers: Sequence[Sequence[npt.NDArray[np.float16]]] = ()

    @property
    def units(self) -> Ints:
        """The unit of every row of the design, (rows,)."""
        if self.features.word_ids is None:
            return self.features.example_index
        return np.repeat(self.features.example_index, self.features.word_ids.lengths)

    def by_input(self, rows: Tensor) -> list[npt.NDArray[Any]]:
        """Rows of the design as an array per input: the rows of its words, or its own row."""
        if self.features.word_ids is None:
            return list(rows.numpy())
        return np.split(rows.numpy(), self.features.word_ids.offsets[1:-1])

    def neighbours(self) -> Tensor | None:
        """(rows - 1, 1) for words, 1 where the next is of the same sentence."""
        if self.features.word_ids is None:
            return None
        units = self.units
        return torch.from_numpy((units[1:] == units[:-1]).astype(np.float32)).unsqueeze(1)


class LinearLearner(Learner):
    """A linear model, whose scores of (rows, outputs) become answers; rows are words for tags, else inputs."""

    @cached_property
    def problem(self) -> Problem:
        """What the scores decide."""
        formulation = self.formulation
        return Problem(formulation.kind, formulation.labels, formulation.scheme)

    def _output(
        self, units: Sequence[Any], read: Read, scores: Tensor, chain: FittedChain | None = None
    ) -> Output:
        """Predictions by name."""
        if chain is None:
            predicted, confidence = decide_labels(self.problem.kind, scores)
        else:
            predicted, confidence = chain.decode(scores, torch.from_numpy(read.units))
        return self.formulation.output(
            units, read.features, *(read.by_input(each) for each in (predicted, confidence))
        )

    def _losses(self, units: Sequence[Any], read: Read, scores: Tensor) -> Sequence[float] | None:
        """The losses of the unshifted fit; a shift for a metric would distort its probabilities."""
        _, shares = decide_labels(self.problem.kind, scores)
        return self.formulation.losses(units, read.features, read.by_input(shares))

    @property
    def _has_chain(self) -> bool:
        return (
            parse_spec(heads, self.formulation.settings.head)[0] is heads.get("crf")
            and self.problem.kind == "tokens"
        )

    def _chain(self, scores: Tensor, targets: Tensor, read: Read) -> FittedChain:
        """A linear chain on top of the scores of the chosen fit, which stay fixed."""
        constrained = bool(
            parse_spec(heads, self.formulation.settings.head)[1].get("constrained", False)
        )
        return fit_chain(scores, targets, torch.from_numpy(read.units), self.problem, constrained)
