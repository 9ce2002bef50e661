"""How often the statistics are wrong, in worlds of which the truth is known.

These are the tables of docs/statistics.md and docs/results/calibration:

    OMP_NUM_THREADS=1 python -m benchmarks.calibration [--worlds 2000]
    OMP_NUM_THREADS=1 python -m benchmarks.calibration --few [--worlds 2000]

A world is a test set of yes or no answers, scored by accuracy around 80. Most answers are alike in all runs of an
encoder, the rest are the run's own, around a level of its own that varies with `run sd` points. False alarms: two sets
of runs of one encoder, the share of worlds with p below 0.05; `test examples alone` randomises these between one run
of each, as papers often do. Power: the share that finds a true drop. Coverage: the share of 95 % intervals that contain
the truth. `paired` is the time of 10,000 paired resamples.

`--few`: intervals of one run on 15 to 50 examples, for shares and a correlation: coverage, and in brackets
the mean width as a multiple of Wilson's or Fisher's interval of the same answers.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from blurb import metrics
from blurb.statistics.bootstrap import Clusters, difference_variance, spread
from blurb.statistics.welch import NORMAL, welch_test

STEADY = 0.7
LEVEL = 0.8


def world(
    random: np.random.Generator, runs: int, units: int, run_sd: float, drop: float = 0.0
) -> Clusters:
    """Runs of one encoder; the second half of them lower by `drop` points."""
    alike = random.random(units) < LEVEL
    shift = random.normal(0, run_sd / 100 / (1 - STEADY), (runs, 1))
    shift[runs // 2 :] -= drop / 100 / (1 - STEADY)
    own = random.random((runs, units)) < LEVEL + shift
    right = np.where(random.random(units) < STEADY, alike, own)
    return Clusters(
        metrics.get("accuracy"),
        np.stack([right, np.ones_like(right)], -1).astype(float),
        tuple(map(str, range(units))),
        "questions",
    )


def halves(both: Clusters) -> tuple[Clusters, Clusters]:
    half = both.runs // 2
    return tuple(
        Clusters(both.metric, part, both.names, both.kind)
        for part in (both.counts[:half], both.counts[half:])
    )  # type: ignore[return-value]


def paired_permutation_test(
    first: Clusters, second: Clusters, random: np.random.Generator, draws: int = 1_000
) -> float:
    """p of swapping the answers of two single runs, unit by unit."""
    changes = second.counts[0, :, 0] - first.counts[0, :, 0]
    signs = random.choice([-1.0, 1.0], (draws, len(changes)))
    return float((np.abs(signs @ changes) >= abs(changes.sum())).mean())


FEW, TRUTHS = (15, 20, 30, 50), (0.5, 0.65, 0.8, 0.9, 0.95)
KINDS = ("accuracy", "entity_f1", "pearson")


def few(kind: str, truth: float, units: int, random: np.random.Generator) -> Clusters:
    """One run on few examples: right answers, mentions of which a missed one is found elsewhere, or normal pairs."""
    metric, names = metrics.get(kind), tuple(map(str, range(units)))
    if kind == "pearson":
        gold, noise = random.standard_normal((2, units))
        answers = truth * gold + np.sqrt(1 - truth**2) * noise
        return Clusters(
            metric, metric.counts(gold, answers, low=-99.0, high=99.0)[None], names, "pairs"
        )
    ones = np.ones(units)
    if kind == "accuracy":
        right = random.random(units) < truth
        return Clusters(metric, np.stack([right, ones], -1)[None].astype(float), names, "questions")
    # F1 = 2 r / (r + (1 - r) / 2 + 1), as half of the missed mentions are predicted elsewhere
    found = random.random(units) < 1.5 * truth / (2 - truth / 2)
    predicted = found | (random.random(units) < 0.5)
    return Clusters(
        metric, np.stack([found, predicted, ones], -1)[None].astype(float), names, "sentences"
    )


def known_width(kind: str, score: float, units: int) -> float:
    """Width of Wilson's interval of a share, or of Fisher's of a correlation, in points."""
    if kind == "pearson":
        place, half = np.arctanh(np.clip(score, -0.999999, 0.999999)), NORMAL / np.sqrt(units - 3)
        return float(100 * (np.tanh(place + half) - np.tanh(place - half)))
    root = np.sqrt(score * (1 - score) / units + NORMAL**2 / (4 * units**2))
    return float(200 * NORMAL * root / (1 + NORMAL**2 / units))


def coverage_of_few(kind: str, truth: float, units: int, worlds: int) -> tuple[float, float]:
    """Share of intervals that contain the truth, and their mean width as a multiple of the known one."""
    random = np.random.default_rng(1)
    inside, widths = 0, np.zeros(2)
    for number in range(worlds):
        run = few(kind, truth, units, random)
        low, high = spread(run, str(number), 1_000).interval
        inside += low <= 100 * truth <= high
        widths += high - low, known_width(kind, float(run.scores[0]) / 100, units)
    return inside / worlds, float(widths[0] / widths[1])


def print_few(worlds: int) -> None:
    print(f"| metric | examples | {' | '.join(f'true {truth}' for truth in TRUTHS)} |")
    print(f"|---|---:|{'---:|' * len(TRUTHS)}")
    for kind in KINDS:
        for units in FEW:
            cells = [coverage_of_few(kind, truth, units, worlds) for truth in TRUTHS]
            shown = " | ".join(f"{share:.3f} ({width:.2f})" for share, width in cells)
            print(f"| {kind} | {units} | {shown} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=2_000)
    parser.add_argument("--few", action="store_true", help="intervals of few examples instead")
    options = parser.parse_args()
    worlds = options.worlds
    if options.few:
        print_few(worlds)
        return
    random = np.random.default_rng(1)
    print(
        "| runs | run sd | false alarms: check | compare | test examples alone | coverage | power: 1 point | 2 | 5 |"
    )
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for runs in (3, 5, 10):
        for run_sd in (0, 1, 2, 3):
            alarms = {"check": 0, "compare": 0, "units": 0}
            some = max(1, worlds // 5)
            for number in range(worlds):
                first, second = halves(world(random, 2 * runs, 500, run_sd))
                sides = second.scores.tolist(), first.scores.tolist()
                alarms["check"] += (welch_test(*sides).p_drop or 1) < 0.05
                if number < some:
                    variance = difference_variance(first, second, f"{number}", 500)
                    alarms["compare"] += (welch_test(*sides, variance, 500).p or 1) < 0.05
                    alarms["units"] += paired_permutation_test(first, second, random) < 0.05
            inside = 0
            for number in range(some):
                low, high = spread(world(random, runs, 500, run_sd), f"{number}", 1_000).interval
                inside += low <= 100 * LEVEL <= high
            power = []
            for drop in (1, 2, 5):
                found = 0
                for _ in range(some):
                    first, second = halves(world(random, 2 * runs, 500, run_sd, drop))
                    found += (
                        welch_test(second.scores.tolist(), first.scores.tolist()).p_drop or 1
                    ) < 0.05
                power.append(f"{found / some:.2f}")
            print(
                f"| {runs} | {run_sd} | {alarms['check'] / worlds:.3f} | {alarms['compare'] / some:.3f} | "
                f"{alarms['units'] / some:.3f} | {inside / some:.3f} | {' | '.join(power)} |",
                flush=True,
            )
    pair = halves(world(random, 2, 5_038, 1))
    start = time.perf_counter()
    difference_variance(*pair, "bc2gm", 10_000)
    print(
        f"\npaired: 10,000 resamples of two runs on 5,038 units in {time.perf_counter() - start:.2f} s"
    )


if __name__ == "__main__":
    main()
