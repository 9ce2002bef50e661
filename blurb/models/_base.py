"""What a model is to the rest of the program: something that learns from units and predicts units."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blurb.data.schema import Row
from blurb.formulations._base import Formulation, Output
from blurb.training.tracking import Tracking

Progress = Callable[[int, int], None]
History = list[dict[str, Any]]
DEV_SAMPLE = 2
"""Apart from the draw of the training units, which begins with the seed alone."""


@dataclass(frozen=True)
class Units:
    """The units of a split, or a drawn subset of them.

    :param rows: all units
    :param key: what identifies `rows` (data hash, split, options): the key of cached features
    :param chosen: indices of the units to use, in order; None for all
    :param name: of the split, for the provenance
    """

    rows: Sequence[Row]
    key: str
    chosen: Sequence[int] | None = None
    name: str = "units"

    @classmethod
    def draw(cls, rows: Sequence[Row], key: str, most: int, seed: int, name: str = "units") -> Units:
        """At most `most` units drawn by the seed, in their order; all of them for 0."""
        if not most or len(rows) <= most:
            return cls(rows, key, name=name)
        picked = np.random.default_rng(seed).choice(len(rows), size=most, replace=False)
        return cls(rows, key, sorted(int(i) for i in picked), name)

    def sample(self, most: int, seed: int, whole: bool = False) -> Units:
        """`most` of the units in use, drawn by the seed, or `whole` documents until there are enough; 0 gives all."""
        if not most or len(self.used) <= most:
            return self
        random = np.random.default_rng((seed, DEV_SAMPLE))
        inside = list(range(len(self.rows)) if self.chosen is None else self.chosen)
        names = [str(self.rows[i].get("doc_id")) if whole else str(i) for i in inside]
        members: dict[str, list[int]] = {}
        for name, i in zip(names, inside, strict=True):
            members.setdefault(name, []).append(i)
        order = list(members)
        picked: list[int] = []
        for place in random.permutation(len(order)):
            if len(picked) >= most:
                break
            picked += members[order[place]]
        return Units(self.rows, self.key, sorted(picked), f"{self.name}_sample")

    @property
    def used(self) -> Sequence[Row]:
        """The units to use."""
        return self.rows if self.chosen is None else [self.rows[i] for i in self.chosen]


class Learner(ABC):
    """A model bound to one task: `fit` once, then `predict`.

    :ivar facts: what the provenance should tell of the training and the inputs
    :ivar tracking: to be told of every epoch; a learner without epochs has nothing to tell
    """

    def __init__(self, formulation: Formulation) -> None:
        self.formulation = formulation
        self.facts: dict[str, Any] = {}
        self.tracking = Tracking()

    @abstractmethod
    def fit(self, train: Units, dev: Units, seed: int, progress: Progress) -> History:
        """Learns under the settings of the formulation, choosing on `dev` where there is a choice; a row an epoch."""

    @abstractmethod
    def predict(self, units: Units) -> Output:
        """Predictions by name for `units.used`, and their scores."""
