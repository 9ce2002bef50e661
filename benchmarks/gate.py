"""How often a gate of many looks is wrong, and what it finds: the tables of docs/extensions/series-gate.md.

    OMP_NUM_THREADS=1 python -m benchmarks.gate [--worlds 2000]

A world is a series of 40 checkpoints against one baseline. Fine-tuned rows: the score of a run is normal around the
mean of its checkpoint, on one dataset or on thirteen with their score. Probes: yes or no answers to examples that are
easy or hard for all. What is simulated here with arrays are the decisions of `blurb.regression.looks`, look by
look: tests/regression/test_many_looks.py puts worlds through both and asks for the same answers.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, norm, t

from blurb.results.score import dataset_weights
from blurb.statistics.welch import level_of_look

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
LOOKS, LEVEL, WORLDS = 40, 0.05, 2_000
WEIGHTS = np.array(list(dataset_weights().values()))
ONE = np.ones(1)
"""Weights of a row with one dataset, which has no score."""


def runs(
    random: np.random.Generator, worlds: int, seeds: int, sd: float | Floats, sets: int = 1, drop: Floats | float = 0.0,
    looks: int = LOOKS, onset: int = 1,
) -> tuple[Floats, Floats]:  # fmt: skip
    """Scores of a baseline, (worlds, seeds, sets), and of its checkpoints, (worlds, looks, seeds, sets).

    :param sd: between runs; an array broadcasts against the checkpoints'
    :param drop: of the checkpoints from look `onset` on, by dataset
    """
    level = 80.0
    baseline = level + (sd if isinstance(sd, float) else 1.0) * random.standard_normal(
        (worlds, seeds, sets)
    )
    checkpoints = level + sd * random.standard_normal((worlds, looks, seeds, sets))
    checkpoints[:, onset - 1 :] -= drop
    return baseline, checkpoints


def alarms(
    baseline: Floats,
    checkpoints: Floats,
    sd: float | None = None,
    planned: int | None = LOOKS,
    score: bool = False,
) -> Bools:
    """Which looks find a regression, (worlds, looks).

    :param sd: that is stated, for single runs
    :param score: whether there is one besides the datasets
    """
    worlds, looks, seeds, sets = checkpoints.shape
    difference = checkpoints.mean(2) - baseline.mean(1)[:, None]  # (worlds, looks, sets)
    if sd is None:
        within = (seeds - 1) * checkpoints.var(2, ddof=1)  # sums of squares
        before = (seeds - 1) * baseline.var(1, ddof=1)[:, None]
        degrees = np.broadcast_to(((seeds - 1) * np.arange(2, looks + 2))[:, None], (looks, sets))
        variance = (before + within.cumsum(1)) / degrees
    else:
        variance, degrees = np.full((worlds, looks, sets), sd * sd), np.full((looks, sets), np.inf)
    squared = variance * (2 / seeds)
    p = _lower(difference / np.sqrt(squared), degrees)
    if score:  # Satterthwaite, as `blurb.statistics.welch.combine_tests`
        parts = WEIGHTS**2 * squared
        error = parts.sum(-1)
        freedom = (
            error**2 / (parts**2 / degrees).sum(-1) if sd is None else np.full(error.shape, np.inf)
        )
        whole = _lower((difference * WEIGHTS).sum(-1) / np.sqrt(error), freedom)
        p = np.concatenate([p, whole[..., None]], -1)
    # Holm finds something where Bonferroni does
    return p.min(-1) * p.shape[-1] < _levels(looks, planned)


def _lower(statistic: Floats, degrees: Floats) -> Floats:
    return norm.cdf(statistic) if np.isinf(degrees).all() else t.cdf(statistic, degrees)


def _levels(looks: int, planned: int | None) -> Floats:
    return np.array([level_of_look(look, LEVEL, planned) for look in range(1, looks + 1)])


def answers(
    random: np.random.Generator, worlds: int, units: int, drop: float = 0.0, looks: int = LOOKS
) -> tuple[Bools, Bools]:
    """Right answers of a baseline's probe, (worlds, units), and of its checkpoints', (worlds, looks, units).

    Half of the examples are right in nine of ten cases, half in seven; `drop` takes points off both.
    """
    chance = np.where(np.arange(units) % 2, 0.9, 0.7)
    return random.random((worlds, units)) < chance, random.random(
        (worlds, looks, units)
    ) < chance - drop / 100


def probe_alarms(baseline: Bools, checkpoints: Bools, planned: int | None = LOOKS) -> Bools:
    """Which looks find a regression; swapping answers at random makes the wins of discordant pairs binomial."""
    worse = (baseline[:, None] & ~checkpoints).sum(-1)
    better = (~baseline[:, None] & checkpoints).sum(-1)
    return binom.cdf(better, worse + better, 0.5) < _levels(checkpoints.shape[1], planned)


def rate(found: Bools, first: int = 1, last: int = LOOKS) -> float:
    """The share of worlds in which one of these looks finds something."""
    return float(found[:, first - 1 : last].any(1).mean())


def careless(random: np.random.Generator, worlds: int) -> float:
    """False alarms of a test at the whole level at every look, three seeds, Welch's variance of both rows."""
    baseline, checkpoints = runs(random, worlds, 3, 1.0)
    error = (baseline.var(1, ddof=1)[:, None] + checkpoints.var(2, ddof=1)) / 3
    statistic = (checkpoints.mean(2) - baseline.mean(1)[:, None]) / np.sqrt(error)
    return rate(t.cdf(statistic[..., 0], 4) < LEVEL)


def false_alarms(worlds: int) -> list[tuple[str, ...]]:
    """Rows of the first table, at a run sd of 1: what, then one dataset and thirteen with their score."""
    random = np.random.default_rng(1)
    rows: list[tuple[str, ...]] = []
    for seeds in (1, 3, 5):
        figures = []
        for sets in (1, len(WEIGHTS)):
            found = alarms(
                *runs(random, worlds, seeds, 1.0, sets), 1.0 if seeds == 1 else None, score=sets > 1
            )
            figures.append(f"{rate(found):.3f}")
        rows.append((f"{seeds} seeds, pooled" if seeds > 1 else "1 seed, sd stated", *figures))
    rows.append(("probes, 1,000 examples", f"{rate(_in_parts(random, worlds, 1_000)):.3f}", ""))
    return rows


def _in_parts(random: np.random.Generator, worlds: int, units: int, drop: float = 0.0) -> Bools:
    """`probe_alarms` of many examples, a hundred worlds at a time."""
    return np.concatenate(
        [probe_alarms(*answers(random, 100, units, drop)) for _ in range(worlds // 100)]
    )


def departures(worlds: int) -> list[tuple[str, ...]]:
    """False alarms where an assumption does not hold."""
    random = np.random.default_rng(2)
    # A factor of four between the extremes
    varied = 10 ** random.uniform(-0.3, 0.3, (worlds, LOOKS, 1, 1))
    return [
        ("the stated sd is 0.7, the true one 1", f"{rate(alarms(*runs(random, worlds, 1, 1.0), 0.7)):.3f}"),
        ("the stated sd is 1, the true one 0.7", f"{rate(alarms(*runs(random, worlds, 1, 0.7), 1.0)):.3f}"),
        ("each checkpoint has its own sd, 0.5 to 2, 3 seeds", f"{rate(alarms(*runs(random, worlds, 3, varied))):.3f}"),
        ("Welch's test at 0.05 at every look, 3 seeds", f"{careless(random, worlds):.3f}"),
    ]  # fmt: skip


def powers(worlds: int, onset: int = 10) -> list[tuple[str, ...]]:
    """Rows of the table of power of one dataset: found within four looks.

    :param onset: look from which on all checkpoints have the drop
    """
    random = np.random.default_rng(3)
    rows = []
    for seeds in (1, 3, 5):
        for sd in (0.7, 1.0):
            cells = []
            for drop in (1.0, 2.0, 3.0, 5.0):
                world = runs(random, worlds, seeds, sd, 1, drop, onset + 3, onset)
                found = alarms(*world, sd if seeds == 1 else None)
                cells.append(f"{rate(found, onset, onset + 3):.2f}")
            rows.append((f"{seeds}", f"{sd:g}", *cells))
    return rows


def goal(worlds: int) -> list[tuple[str, ...]]:
    """A drop of 3 points of the score, 3 seeds, pooled: found within four looks."""
    random, rows = np.random.default_rng(4), []
    by_set = 0.7 / float(np.sqrt((WEIGHTS**2).sum()))
    for what, sd in (
        ("sd 0.7 of every dataset", 0.7),
        (f"sd 0.7 of the score ({by_set:.1f} of every dataset)", by_set),
    ):
        cells = []
        for onset in (1, 10):
            found = alarms(*runs(random, worlds, 3, sd, 13, 3.0, onset + 3, onset), score=True)
            cells += [f"{rate(found, onset, onset):.2f}", f"{rate(found, onset, onset + 3):.2f}"]
        rows.append((what, *cells))
    return rows


def probe_powers(worlds: int) -> list[tuple[str, ...]]:
    """Found within four looks, by the size of the set and the drop."""
    random = np.random.default_rng(5)
    rows = []
    for units in (200, 500, 2_000):
        cells = []
        for drop in (3.0, 5.0, 10.0):
            parts = [
                probe_alarms(*answers(random, 100, units, drop, 4)) for _ in range(worlds // 100)
            ]
            found = np.concatenate(parts)
            cells.append(f"{rate(found, 1, 4):.2f}")
        rows.append((f"{units:,}", *cells))
    return rows


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    rule = "|" + "|".join("---" if number == 0 else "---:" for number in range(len(head))) + "|"
    return "\n".join([f"| {' | '.join(head)} |", rule, *(f"| {' | '.join(row)} |" for row in rows)])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=WORLDS)
    worlds = parser.parse_args().worlds
    tables = (
        (("rows", "one set", "13 sets and score"), false_alarms(worlds)),
        (("assumption", "false alarms"), departures(worlds)),
        (("seeds", "run sd", "drop 1", "2", "3", "5"), powers(worlds)),
        (("3 points of the score", "look 1", "looks 1-4", "look 10", "looks 10-13"), goal(worlds)),
        (("examples", "drop 3", "5", "10"), probe_powers(worlds)),
    )
    for head, rows in tables:
        print(table(head, rows), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
