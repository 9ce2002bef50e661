"""Resampling of seeds and test examples: the bootstrap behind every interval, and the paired permutation test.

Runs and test examples are crossed: every run is scored on the same examples. The score of run r on examples e is

    mean + effect of e + effect of r on e

so the mean over R runs varies with the examples, which all runs share and which are resampled (clusters with
replacement), and with the runs, which are too few to resample: R runs drawn with replacement vary too little by a
factor of (R - 1) / R, and three of them never reach the tails. Their part is normal with the variance between runs. As
that variance has only R - 1 degrees of freedom, the interval is widened from the normal to Student's t (Satterthwaite).
The interaction of runs and examples is already in the variance between runs, and is removed from that of the examples
by comparing the resamples of one run with those of the mean over runs. See docs/statistics.md for the calibration.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from blurb.statistics.welch import NOISE, NORMAL, t_critical

LEVEL = 0.95
RESAMPLES = 10_000
VERSION = 2
"""Of the intervals, which are kept by it; raised when they change for the same predictions."""
FEW = 50
"""Up to so many clusters the draws are made otherwise (`of_few`); above, an interval would differ by 2 % at most."""


@dataclass(frozen=True)
class BootstrapMean:
    """Resamples of one mean over runs.

    :param mean: mean over runs, times 100
    :param draws: (resamples,) resampled means
    :param runs: number of runs; with a single run, `draws` do not include the variance between seeds
    :param variance_of_variance: of that between runs: its square over its degrees of freedom; 0 if not applicable
    """

    mean: float
    draws: Floats
    runs: int
    variance_of_variance: float = 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """95 % percentile interval, widened because the variance between runs is estimated from few runs."""
        low, high = (
            float(bound) for bound in np.quantile(self.draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        )
        if not self.variance_of_variance:
            return low, high
        wider = t_critical(float(self.draws.var()) ** 2 / self.variance_of_variance) / NORMAL
        return self.mean + wider * (low - self.mean), self.mean + wider * (high - self.mean)


def spread(
    units: Clusters, name: str, resamples: int = RESAMPLES, sums: Floats | None = None
) -> BootstrapMean:
    """Resamples of the mean over runs of one dataset.

    :param name: name of the dataset, which seeds the draws
    :param sums: of `resampled_sums`, where several figures of the same examples are asked for
    """
    random = generator(name)
    sums = resampled_sums(units, random, resamples) if sums is None else sums
    scores = 100 * units.metric.score(sums)  # (resamples, runs)
    resamples = len(scores)
    mean = float(units.scores.mean())
    draws = _moved_by_examples(scores, mean)
    if len(units.names) <= FEW:
        draws = of_few(draws, mean, len(units.names), units.metric.correlation, random)
    if units.runs == 1:
        return BootstrapMean(mean, draws, 1)
    # s^2 / R, with R - 1 degrees of freedom
    variance = float(units.scores.var(ddof=1)) / units.runs
    if variance < NOISE:
        return BootstrapMean(mean, draws, units.runs)
    draws = draws + np.sqrt(variance) * random.standard_normal(resamples)
    return BootstrapMean(mean, draws, units.runs, variance**2 / (units.runs - 1))


def joint_draws(
    units: Clusters, name: str, own: np.random.Generator, resamples: int = RESAMPLES
) -> Floats:
    """Resampled means over runs, (resamples,), times 100, to be held against those of other rows, draw by draw.

    Rows with the same clusters draw the same ones, so that what is hard for all of them moves all alike, which `spread`
    does not keep for few clusters; they are only widened as there (`of_few`). Runs are each row's own.

    :param own: draws what the row varies by with its runs
    """
    mean, of_freedom = float(units.scores.mean()), max(1, len(units.names) - 1)
    wider = t_critical(of_freedom) / NORMAL * np.sqrt(len(units.names) / of_freedom)
    means = _moved_by_examples(resampled(units, generator(name), resamples), mean)
    return np.asarray(mean + wider * (means - mean) + moved_by_runs(units.scores, own, resamples))


def moved_by_runs(scores: Floats, own: np.random.Generator, resamples: int) -> Floats:
    """What a mean varies by with its runs, (resamples,): Student's t around 0; nothing for a single run.

    :param scores: (runs,)
    """
    error = float(np.std(scores, ddof=1)) / np.sqrt(len(scores)) if len(scores) > 1 else 0.0
    return np.asarray(error * own.standard_t(max(1, len(scores) - 1), resamples))


def _moved_by_examples(scores: Floats, mean: float) -> Floats:
    """Resampled means, (resamples,), with the spread of the effect of examples alone.

    mean + (resampled mean - mean) * sqrt(Var_e / (Var_e + Var_re / R))

    :param scores: (resamples, runs)
    """
    means = scores.mean(1)
    variance = float(means.var())
    return np.asarray(
        mean + (means - mean) * (np.sqrt(shared(scores) / variance) if variance else 0.0)
    )


def of_few(
    draws: Floats, mean: float, clusters: int, correlation: bool, random: np.random.Generator
) -> Floats:
    """Draws in place of resampled means of few clusters, so that their 95 % interval covers as often as it says.

    Resamples of n clusters have n - 1 of n parts of the variance, the tails of a normal in place of those of Student's
    t with n - 1 degrees of freedom, few values, so that their quantiles jump, and none but one where all answers are
    right. So only their spread is used, widened by sqrt(n / (n - 1)) and by t, with u normal: a correlation moves by u
    spreads on Fisher's scale (atanh), on which its error is alike everywhere. A share s becomes the share p that lies u
    standard errors of p from s (Wilson, 1927), s = p - u sqrt(p (1 - p) / m), where m is the number of answers with
    the spread of the resamples, s (1 - s) / spread^2, or n where they do not vary.

    :param draws: (resamples,), times 100
    :param clusters: n
    """
    of_freedom = max(1, clusters - 1)
    u = (
        t_critical(of_freedom)
        / NORMAL
        * np.sqrt(clusters / of_freedom)
        * random.standard_normal(len(draws))
    )
    if correlation:
        place, each = (np.arctanh(np.clip(one / 100, -NEAR_ONE, NEAR_ONE)) for one in (mean, draws))
        return np.asarray(100 * np.tanh(place + each.std() * u))
    share, variance = mean / 100, float(draws.var()) / 1e4
    m = share * (1 - share) / variance if variance > NOISE else clusters
    root = np.sqrt(share * (1 - share) / m + u**2 / (4 * m**2))
    return np.asarray(100 * (share + u**2 / (2 * m) + u * root) / (1 + u**2 / m))


def shared(scores: Floats) -> float:
    """The variance over test examples that all runs share, from resampled scores (resamples, runs).

    Resampled scores of one run vary with the effect of examples on all runs and on this run; resampled means over R
    runs vary with the first and 1/R of the second.
    """
    runs = scores.shape[1]
    mean = float(scores.mean(1).var())  # Var_e + Var_re / R
    if runs == 1:
        return mean
    single = float(scores.var(0).mean())  # Var_e + Var_re
    # Var_re / R = (single - mean) / (R - 1), so Var_e = mean - (single - mean) / (R - 1)
    return float(max(0.0, mean - max(0.0, single - mean) / (runs - 1)))


def difference_variance(
    first: Clusters, second: Clusters, name: str, resamples: int = RESAMPLES
) -> float:
    """The variance over test examples of the difference of two means over runs.

    Both are resampled together on the same examples, and the part of individual runs is removed (`shared`). It is near
    0 for two sets of runs of one encoder.
    """
    stacked = Clusters(
        first.metric, np.concatenate([first.counts, second.counts]), first.names, first.kind
    )
    scores = resampled(stacked, generator(name), resamples)
    both = scores[:, : first.runs], scores[:, first.runs :]
    # Var_e of the difference + Var_re / R of both
    variance = float((both[0].mean(1) - both[1].mean(1)).var())
    own = [float(side.mean(1).var()) - shared(side) for side in both if side.shape[1] > 1]
    if len(own) == 1:  # the other has one run: as unsteady as these, for one instead of R
        own.append(own[0] * max(first.runs, second.runs))
    return max(0.0, variance - sum(own))


def resampled(units: Clusters, random: np.random.Generator, resamples: int) -> Floats:
    """Scores, times 100, of every run on resampled clusters, (resamples, runs). All runs get the same clusters."""
    return 100 * units.metric.score(resampled_sums(units, random, resamples))


def resampled_sums(units: Clusters, random: np.random.Generator, resamples: int) -> Floats:
    """The sums of every run on resampled clusters, (resamples, runs, summands)."""
    runs, clusters, summands = units.counts.shape
    flat = units.counts.transpose(1, 0, 2).reshape(clusters, runs * summands)
    chunks = [
        (weights @ flat).reshape(len(weights), runs, summands)
        for weights in _draw_weights(clusters, random, resamples)
    ]
    return np.concatenate(chunks)


def _draw_weights(clusters: int, random: np.random.Generator, resamples: int) -> Iterator[Floats]:
    """Yields how often each cluster was drawn, (some resamples, clusters), until there are enough."""
    at_once = max(1, CHUNK // clusters)
    for start in range(0, resamples, at_once):
        rows = min(at_once, resamples - start)
        drawn = random.integers(clusters, size=(rows, clusters), dtype=np.int32)
        drawn += np.arange(rows, dtype=np.int32)[:, None] * clusters
        yield (
            np.bincount(drawn.ravel(), minlength=rows * clusters)
            .reshape(rows, clusters)
            .astype(np.float64)
        )


def averaged(
    spreads: Mapping[str, BootstrapMean], weights: Mapping[str, float]
) -> BootstrapMean | None:
    """Resamples of a weighted mean of datasets (a task type, the BLURB score); None if any is missing."""
    if not set(weights) <= set(spreads):
        return None
    parts = [(weight, spreads[name]) for name, weight in weights.items()]
    return BootstrapMean(
        mean=sum(weight * part.mean for weight, part in parts),
        draws=np.sum([weight * part.draws for weight, part in parts], axis=0),
        runs=min(part.runs for _, part in parts),
        variance_of_variance=sum(weight**4 * part.variance_of_variance for weight, part in parts),
    )


def paired_permutation_test(
    first: Clusters, second: Clusters, name: str, draws: int = RESAMPLES
) -> float:
    """Two-sided p of a paired randomisation test between two single runs (Yeh, 2000, swapping clusters).

    The null hypothesis is that these two *runs* are exchangeable, example by example. Two runs of one encoder are not,
    so the test compares two checkpoints and not two encoders: for runs it is a hint and never a verdict.
    """
    seen = abs(float(first.scores[0] - second.scores[0]))
    extreme = int((np.abs(swapped(first, second, name, draws)) >= seen - 1e-9).sum())
    return (extreme + 1) / (draws + 1)


def swapped(first: Clusters, second: Clusters, name: str, draws: int = RESAMPLES) -> Floats:
    """Differences of two single runs, second minus first, with clusters swapped at random, (draws,)."""
    if first.runs != 1 or second.runs != 1 or first.names != second.names:
        raise ValueError("a paired randomisation needs one run each, on the same examples.")
    own, other = first.counts[0], first.metric.aligned(first.counts[0], second.counts[0])
    change, total = own - other, own.sum(0) + other.sum(0)
    random = generator(name)
    chunks: list[Floats] = []
    at_once = max(1, CHUNK // len(own))
    for start in range(0, draws, at_once):
        rows = min(at_once, draws - start)
        bits = np.unpackbits(np.frombuffer(random.bytes(rows * -(-len(own) // 8)), dtype=np.uint8))
        swaps = bits.reshape(rows, -1)[:, : len(own)].astype(np.float32)
        # float32 holds these sums of whole numbers exactly; moments of scores lose what no p-value shows.
        mine = own.sum(0) - (swaps @ change.astype(np.float32)).astype(np.float64)
        chunks.append((first.metric.score(total - mine) - first.metric.score(mine)) * 100)
    return np.concatenate(chunks)


Floats = NDArray[np.float64]
NEAR_ONE = 1 - 1e-9
"""Largest correlation with a place on Fisher's scale."""
CHUNK = 2_000_000
"""Number of values drawn at a time: a few megabytes, with many resamples per matrix product."""


class SummedMetric(Protocol):
    """A metric as a function of sums over examples (`blurb.metrics.Metric`)."""

    @property
    def correlation(self) -> bool:
        """Whether it is a correlation, else a share of 1."""

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
