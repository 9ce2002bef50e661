"""Times `blurb.metrics.entity_f1` against seqeval on 100,000 words, from lists of strings to the score.

Run from the root of the repository: `python -m benchmarks.entity_f1`
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from functools import partial

from seqeval.metrics import f1_score

from blurb.metrics import entity_f1

WORDS = 100_000
SENTENCE = 25  # words; about the mean of the NER corpora
INSIDE = 0.14  # share of words in entities
KEPT = 0.9  # share of words whose gold tag is predicted
TAG_SETS = {"untyped, as in BLURB": ("O", "B", "I"), "typed": ("O", "B-Disease", "I-Disease")}


def sentences(tags: tuple[str, str, str], seed: int) -> tuple[list[list[str]], list[list[str]]]:
    """Random gold tags and predictions that mostly agree with them."""
    draw = random.Random(seed)
    weights = (1 - INSIDE, INSIDE / 2, INSIDE / 2)
    gold = draw.choices(tags, weights, k=WORDS)
    predicted = [tag if draw.random() < KEPT else draw.choices(tags, weights)[0] for tag in gold]
    cuts = range(0, WORDS, SENTENCE)
    return [gold[cut : cut + SENTENCE] for cut in cuts], [
        predicted[cut : cut + SENTENCE] for cut in cuts
    ]


def best_time(function: Callable[[], object], repeats: int) -> float:
    """Seconds of the fastest run, the one that was least disturbed."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(tags: tuple[str, str, str]) -> dict[str, float]:
    """Milliseconds of both, after a check that they agree."""
    gold, predicted = sentences(tags, seed=1)
    ours, theirs = entity_f1(gold, predicted)["f1"], float(f1_score(gold, predicted))
    assert math.isclose(ours, theirs, abs_tol=1e-12), (
        f"the scores differ: {ours} here, {theirs} by seqeval"
    )
    fast = best_time(partial(entity_f1, gold, predicted), repeats=30)
    slow = best_time(partial(f1_score, gold, predicted), repeats=5)
    return {"seqeval ms": 1000 * slow, "entity_f1 ms": 1000 * fast, "ratio": slow / fast}


def main() -> None:
    for name, tags in TAG_SETS.items():
        found = measure(tags)
        print(
            f"{WORDS:,} words, tags {name}: "
            + ", ".join(f"{what} {value:.2f}" for what, value in found.items())
        )


if __name__ == "__main__":
    main()
