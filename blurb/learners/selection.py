"""How linear models are chosen: by the score on dev, or by cross-validation in train where dev is small."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from blurb.formulations._base import Formulation
from blurb.heads import heads
from blurb.heads._base import Problem
from blurb.heads._spec import parse
from blurb.messages.errors import SettingsError
from blurb.protocols.settings import Where, shown, unknown_origin

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
    head, _ = parse(heads, settings.head)
    named = shown(settings, "head", where)
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


def folds(units: Sequence[Any]) -> npt.NDArray[np.int64] | None:
    """The fold of each example; a document is never split. None of one document, which would leave nothing to fit."""
    names = [number if unit.get("doc_id") is None else unit["doc_id"] for number, unit in enumerate(units)]
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    if len(places) < 2:
        return None
    count = min(FOLDS, len(places))
    # Not in the order of the file, which may be that of the answers.
    dealt = np.random.default_rng(0).permutation(len(places)) % count
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


def best_shift(score: Callable[[Tensor], float], scores: Tensor, rarer: Tensor) -> tuple[float, float]:
    """The best shift of the bias towards rarer answers, and its score; the smallest shift if tied.

    :param score: the task's score of the answers behind scores (rows, outputs)
    """
    found = {shift: score(scores + shift * rarer) for shift in (SHIFTS if rarer.any() else SHIFTS[:1])}
    shift = max(found, key=lambda one: found[one])
    return shift, found[shift]
