"""Runs on one test set, cut into the clusters of units that are drawn together."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
CHUNK = 2_000_000
"""Units that are drawn at a time: few megabytes, and many resamples to one matrix product."""


class SummedMetric(Protocol):
    """A metric as a function of sums over units (`blurb.metrics.counts`)."""

    def score(self, sums: Floats, /) -> Floats:
        """Sums (..., summands) to scores (...), fractions."""

    def aligned(self, first: Floats, second: Floats, /) -> Floats:
        """The counts of a second run on the same units, so that a unit's may take the place of the first run's."""


@dataclass(frozen=True)
class Clusters:
    """Runs on one split, by clusters: documents where the source names them, else single units.

    :param counts: (runs, clusters, summands)
    :param names: of the clusters
    :param kind: what they are: "documents", or what the task counts
    """

    metric: SummedMetric
    counts: Floats
    names: tuple[str, ...]
    kind: str

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(self.counts)

    @property
    def scores(self) -> Floats:
        """The score of each run, times 100, (runs,)."""
        return 100 * self.metric.score(self.counts.sum(1))


def generator(name: str) -> np.random.Generator:
    """Random numbers that belong to a name: a figure repeats, and the draws of two datasets are independent."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big"))
