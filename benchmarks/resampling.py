"""Times 10,000 resamples of a complete row, and of the difference of two rows on the largest test set.

    OMP_NUM_THREADS=2 python -m benchmarks.resampling

Invented counts of the sizes of the real test sets, with the seeds of the paper: 5, and 10 for the three small sets.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from blurb import metrics
from blurb.results.score import dataset_weights
from blurb.statistics.bootstrap import (
    Clusters,
    averaged,
    difference_variance,
    paired_permutation_test,
    spread,
)

SIZES = {
    "bc5-chem": (5, 4_797),
    "bc5-disease": (5, 4_797),
    "ncbi-disease": (5, 940),
    "bc2gm": (5, 5_038),
    "jnlpba": (5, 402),
    "ebm-pico": (5, 191),
    "chemprot": (5, 727),
    "ddi": (5, 191),
    "gad": (5, 534),
    "biosses": (10, 20),
    "hoc": (5, 371),
    "pubmedqa": (10, 500),
    "bioasq": (10, 140),
}
"""Runs, and documents or units of the test set."""


def units(name: str, random: np.random.Generator) -> Clusters:
    runs, clusters = SIZES[name]
    right = random.integers(0, 4, (runs, clusters, 1)).astype(float)
    counts = np.concatenate([right, right + random.integers(0, 2, right.shape), right + 1], -1)
    return Clusters(metrics.get("entity_f1"), counts, tuple(map(str, range(clusters))), "units")


def measure() -> dict[str, float]:
    """Seconds of each."""
    random = np.random.default_rng(1)
    row = {name: units(name, random) for name in SIZES}
    one, other = (
        Clusters(runs.metric, runs.counts[:1], runs.names, runs.kind)
        for runs in (row["bc2gm"], units("bc2gm", random))
    )
    return {
        "a complete row": seconds(
            lambda: averaged(
                {name: spread(runs, name) for name, runs in row.items()}, dataset_weights()
            )
        ),
        "the difference of two rows on BC2GM, 5 runs each": seconds(
            lambda: difference_variance(row["bc2gm"], units("bc2gm", random), "bc2gm")
        ),
        "the same, one run each": seconds(lambda: difference_variance(one, other, "bc2gm")),
        "paired randomisation of these, 10,000 times": seconds(
            lambda: paired_permutation_test(one, other, "bc2gm")
        ),
    }


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def main() -> None:
    for what, value in measure().items():
        print(f"{what}: {value:.2f} s")


if __name__ == "__main__":
    main()
