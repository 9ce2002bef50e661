"""The paired permutation test of two single runs: clusters of test examples are swapped at random."""

from __future__ import annotations

import numpy as np

from blurb.statistics.bootstrap import RESAMPLES
from blurb.statistics.clusters import CHUNK, Clusters, Floats, generator


def paired_permutation_test(first: Clusters, second: Clusters, name: str, draws: int = RESAMPLES) -> float:
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
