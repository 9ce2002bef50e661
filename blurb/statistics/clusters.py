"""Runs on one test set, as clusters of examples that are resampled together."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
CHUNK = 2_000_000
"""Number of values drawn at a time: a few megabytes, with many resamples per matrix product."""


class SummedMetric(Protocol):
    """A metric as a function of sums over examples (`blurb.metrics.Metric`)."""

    def score(self, sums: Floats, /) -> Floats:
        """Sums (..., summands) to scores (...), fractions."""

    def aligned(self, first: Floats, second: Floats, /) -> Floats:
        """The counts of a second run on the same examples, made exchangeable with those of the first run."""


@dataclass(frozen=True)
class Clusters:
    """Runs on one split, by clusters: documents if the source names them, else single examples.

    :param counts: (runs, clusters, summands)
    :param names: names of the clusters
    :param kind: what the clusters are: "documents", or the examples of the task
    """

    metric: SummedMetric
    counts: Floats
    names: tuple[str, ...]
    kind: str

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.counts)

    @property
    def scores(self) -> Floats:
        """The score of each run, times 100, (runs,)."""
        return 100 * self.metric.score(self.counts.sum(1))


def generator(name: str) -> np.random.Generator:
    """A generator seeded by a name, so that results are reproducible and datasets are independent."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big"))
