"""Pretrainings and test examples crossed: against the Multi-Bootstrap, written out as its paper says."""

from __future__ import annotations

import numpy as np
import pytest

from blurb import metrics
from blurb.extensions.lab.study import reading
from blurb.statistics.bootstrap import Clusters, difference_variance
from tests.extensions.lab.test_findings import VALUES, variant

RUNS, EXAMPLES, DRAWS = 12, 400, 4_000


def answers(rate: float, generator: np.random.Generator, hard: np.ndarray) -> np.ndarray:
    """Right or wrong, (runs, examples): some runs are better, some examples are harder for all."""
    better = generator.normal(0, 0.3, RUNS)[:, None]
    return (generator.normal(rate, 1, (RUNS, EXAMPLES)) + better + hard > 0).astype(float)


def multi_bootstrap(
    first: np.ndarray, other: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """Differences: pretrainings of each side and the examples of both are drawn with replacement (their section 3)."""
    differences = np.empty(DRAWS)
    for draw in range(DRAWS):
        examples = generator.integers(EXAMPLES, size=EXAMPLES)
        means = [
            side[generator.integers(RUNS, size=RUNS)][:, examples].mean() for side in (first, other)
        ]
        differences[draw] = means[0] - means[1]
    return 100 * differences


def test_the_variance_is_that_of_the_multi_bootstrap() -> None:
    generator = np.random.default_rng(3)
    hard = generator.normal(0, 1, EXAMPLES)
    sides = [answers(0.5, generator, hard), answers(0.2, generator, hard)]
    accuracy = metrics.get("accuracy")
    counts = [np.stack([side, np.ones_like(side)], -1) for side in sides]
    names = tuple(map(str, range(EXAMPLES)))
    clusters = [Clusters(accuracy, each, names, "examples") for each in counts]
    assert clusters[0].scores == pytest.approx(100 * sides[0].mean(1))
    ours = difference_variance(*clusters, "test") + sum(
        each.scores.var(ddof=1) / RUNS for each in clusters
    )
    theirs = multi_bootstrap(*sides, generator).var()
    # Theirs draws R runs with replacement, so that the part of the runs is (R - 1) / R, and has their interaction with
    # the examples a second time.
    assert ours == pytest.approx(theirs, rel=0.15)


def test_the_choice_of_examples_makes_intervals_wider() -> None:
    rows = {name: variant(name) for name in VALUES}
    alone = list(reading.reading("b", reading.compared(rows, "b")))
    crossed = list(
        reading.reading("b", reading.compared(rows, "b", lambda first, other, dataset: (4.0, 500)))
    )
    half = [float(line.split("± ")[1].split(",")[0]) for line in (alone[0], crossed[0])]
    assert half[0] < half[1]
    assert (
        list(
            reading.reading(
                "b", reading.compared(rows, "b", lambda first, other, dataset: (0.0, 0))
            )
        )
        == alone
    )
