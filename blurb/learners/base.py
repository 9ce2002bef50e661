"""The interface of all models: learn from examples, predict examples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from blurb.data.schema import Example
from blurb.formulations._base import Formulation, Output
from blurb.training.tracking import Tracking

if TYPE_CHECKING:
    from blurb.training.resuming import Checkpoints

Progress = Callable[[int, int], None]
History = list[dict[str, Any]]
DEV_SAMPLE = 2
"""Separates this random stream from the sampling of the training examples, which starts from the seed alone."""


@dataclass(frozen=True)
class Subset:
    """The examples of a split, or a random subset of them.

    :param rows: all examples
    :param key: identifies `rows` (data hash, split, options) in the cache of features; "" for examples of no
        dataset, of which nothing is cached
    :param chosen: indices of the examples to use, in order; None for all
    :param name: name of the split, for the provenance
    """

    rows: Sequence[Example]
    key: str
    chosen: Sequence[int] | None = None
    name: str = "units"

    @classmethod
    def draw(
        cls, rows: Sequence[Example], key: str, most: int, seed: int, name: str = "units"
    ) -> Subset:
        """At most `most` random examples in their original order; all for 0."""
        if not most or len(rows) <= most:
            return cls(rows, key, name=name)
        picked = np.random.default_rng(seed).choice(len(rows), size=most, replace=False)
        return cls(rows, key, sorted(int(i) for i in picked), name)

    def sample(self, most: int, seed: int, whole: bool = False) -> Subset:
        """`most` random examples of those in use, or `whole` documents until there are enough; all for 0."""
        if not most or len(self.used) <= most:
            return self
        random = np.random.default_rng((seed, DEV_SAMPLE))
        members: dict[tuple[object, int | None], list[int]] = {}
        for i in range(len(self.rows)) if self.chosen is None else self.chosen:
            document = self.rows[i].get("doc_id") if whole else None
            members.setdefault((document, i if document is None else None), []).append(i)
        groups = list(members.values())
        picked: list[int] = []
        for place in random.permutation(len(groups)):
            if len(picked) >= most:
                break
            picked += groups[place]
        return Subset(self.rows, self.key, sorted(picked), f"{self.name}_sample")

    @property
    def used(self) -> Sequence[Example]:
        """The examples to use."""
        return self.rows if self.chosen is None else [self.rows[i] for i in self.chosen]


class Predicted(NamedTuple):
    """Predictions of a learner for some units.

    :param answers: one per unit, as label names
    :param scores: scores behind each answer; None without scores
    :param losses: `Formulation.losses` of the probabilities; None if there are none
    """

    answers: Sequence[Any]
    scores: Sequence[list[float]] | None
    losses: Sequence[float] | None = None


class Learner(ABC):
    """A model bound to one task: `fit` once, then `predict`. Device and precision are for those that compute on one.

    :ivar facts: facts about training and inputs, for the provenance
    :ivar tracking: receives the results of every epoch, if the learner has epochs
    :ivar checkpoints: where an interrupted training goes on from, if the learner has epochs
    :ivar checkpointing: of activations: auto, on or off, if the learner has layers
    """

    def __init__(
        self, formulation: Formulation, device: str = "cpu", precision: str = "fp32"
    ) -> None:
        self.formulation = formulation
        self.facts: dict[str, Any] = {}
        self.tracking = Tracking()
        self.checkpoints: Checkpoints | None = None
        self.checkpointing = "auto"

    @abstractmethod
    def fit(self, train: Subset, dev: Subset, seed: int, progress: Progress) -> History:
        """Learns from `train` and selects on `dev`; returns one row per epoch."""

    @abstractmethod
    def predict(self, units: Subset) -> Predicted | Output:
        """Predictions for `units.used` by name, and their scores; a plain pair without losses."""
