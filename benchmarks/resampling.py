"""Times 10,000 resamples of a complete row, and of the difference of two rows on the largest test set.

    OMP_NUM_THREADS=2 python -m benchmarks.resampling

Invented counts of the sizes of the real test sets, with the seeds of the paper: 5, and 10 for the three small sets.
"""

from __future__ import annotations

import time

import numpy as np

from blurb.leaderboard.resampling import averaged, difference_variance, randomised, spread
from blurb.leaderboard.score import weights
from blurb.leaderboard.units import Units

SIZES = {
    "bc5-chem": (5, 4_797), "bc5-disease": (5, 4_797), "ncbi-disease": (5, 940), "bc2gm": (5, 5_038),
    "jnlpba": (5, 402), "ebm-pico": (5, 191), "chemprot": (5, 727), "ddi": (5, 191), "gad": (5, 534),
    "biosses": (10, 20), "hoc": (5, 371), "pubmedqa": (10, 500), "bioasq": (10, 140),
}  # fmt: skip
"""Runs, and documents or units of the test set."""


def units(name: str, random: np.random.Generator) -> Units:
    runs, clusters = SIZES[name]
    right = random.integers(0, 4, (runs, clusters, 1)).astype(float)
    counts = np.concatenate([right, right + random.integers(0, 2, right.shape), right + 1], -1)
    return Units("entity_f1", counts, tuple(map(str, range(clusters))), "units")


def main() -> None:
    random = np.random.default_rng(1)
    row = {name: units(name, random) for name in SIZES}
    start = time.perf_counter()
    spreads = {name: spread(one, name) for name, one in row.items()}
    whole = averaged(spreads, weights())
    assert whole is not None
    print(f"a complete row: {time.perf_counter() - start:.1f} s; score {whole.mean:.2f}, interval {whole.interval}")
    start = time.perf_counter()
    difference_variance(row["bc2gm"], units("bc2gm", random), "bc2gm")
    print(f"the difference of two rows on BC2GM, 5 runs each: {time.perf_counter() - start:.2f} s")
    pair = [Units(one.metric, one.counts[:1], one.names, one.kind) for one in (row["bc2gm"], units("bc2gm", random))]
    start = time.perf_counter()
    difference_variance(*pair, "bc2gm")
    print(f"the same, one run each: {time.perf_counter() - start:.2f} s")
    start = time.perf_counter()
    randomised(pair[0], pair[1], "bc2gm")
    print(f"paired randomisation of these, 10,000 times: {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
