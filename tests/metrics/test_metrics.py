"""The room as a whole: names, worked examples, what it imports."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from blurb import metrics
from blurb.messages.errors import UnknownName


@pytest.mark.parametrize("name", metrics.names())
def test_every_metric_has_its_name_and_a_worked_example(name: str) -> None:
    function = metrics.get(name).function
    assert function is getattr(metrics, name)
    assert ">>> " in function.__doc__
    assert "Source: " in function.__doc__


def test_unknown_name_is_answered_with_the_closest() -> None:
    with pytest.raises(
        UnknownName,
        match=r"no metric called 'entity_f'\. Did you mean 'entity_f1'\? Available: accuracy, binary_f1,",
    ):
        metrics.get("entity_f")


def test_version_is_a_number() -> None:
    assert type(metrics.VERSION) is int


def test_the_figure_that_counts_is_the_first() -> None:
    options = {
        "micro_f1_without": {"negative": "x"},
        "binary_f1": {"positive": "x"},
        "macro_f1": {"labels": ("x", "y")},
        "multilabel_f1": {"labels": ("x",)},
    }
    answers = {
        "entity_f1": [["B-x"]],
        "token_macro_f1": [["I-PAR"]],
        "pearson": [1.0, 2.0],
        "multilabel_f1": [["x"]],
    }
    for name in metrics.names():
        metric = metrics.get(name)
        given = answers.get(name, ["x", "y"])
        assert next(iter(metric(given, given, **options.get(name, {})))) == metric.main


# Sums over units give every metric, on the whole set and on resamples of it; the oracle is the metric itself.


TAGS = ("O", "O", "B-X", "I-X", "B-Y", "I-Y")
LABELS = ("PAR", "INT", "OUT")


def tags(rng: random.Random, names: tuple[str, ...], sizes: list[int]) -> list[list[str]]:
    return [rng.choices(names, k=size) for size in sizes]


def names(rng: random.Random, size: int) -> list[str]:
    return rng.choices(["a", "b", "no"], k=size)


def cases(rng: random.Random, size: int) -> dict[str, tuple[list[Any], list[Any], dict[str, Any]]]:
    sizes = [rng.randint(1, 12) for _ in range(size)]
    pico = ("O", *(f"I-{label}" for label in LABELS))
    sets = [[rng.sample(LABELS, rng.randint(0, 3)) for _ in range(size)] for _ in range(2)]
    return {
        "entity_f1": (tags(rng, TAGS, sizes), tags(rng, TAGS, sizes), {}),
        "token_macro_f1": (tags(rng, pico, sizes), tags(rng, pico, sizes), {"labels": LABELS}),
        "micro_f1_without": (names(rng, size), names(rng, size), {"negative": "no"}),
        "binary_f1": (names(rng, size), names(rng, size), {"positive": "a"}),
        "macro_f1": (names(rng, size), names(rng, size), {"labels": ("a", "b", "no")}),
        "accuracy": (names(rng, size), names(rng, size), {}),
        "multilabel_f1": (sets[0], sets[1], {"labels": LABELS}),
        "pearson": (
            [rng.uniform(0, 4) for _ in range(size)],
            [rng.gauss(2, 2) for _ in range(size)],
            {"low": 0.0, "high": 4.0},
        ),
    }


@pytest.mark.parametrize("metric", metrics.names())
@pytest.mark.parametrize("seed", range(8))
def test_every_resample_has_the_score_that_scoring_it_gives(metric: str, seed: int) -> None:
    rng = random.Random(seed)
    gold, predicted, options = cases(rng, rng.randint(3, 40))[metric]
    counts = np.asarray(metrics.get(metric).counts(gold, predicted, **options), dtype=np.float64)
    score: Callable[..., dict[str, float]] = metrics.get(metric)
    for drawn in [
        list(range(len(gold))),
        *(rng.choices(range(len(gold)), k=len(gold)) for _ in range(20)),
    ]:
        expected = next(
            iter(score([gold[i] for i in drawn], [predicted[i] for i in drawn], **options).values())
        )
        assert metrics.get(metric).score(counts[drawn].sum(0)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("metric", metrics.names())
def test_nothing_is_worth_nothing(metric: str) -> None:
    gold, predicted, options = cases(random.Random(0), 5)[metric]
    counts = np.asarray(metrics.get(metric).counts(gold, predicted, **options), dtype=np.float64)
    assert metrics.get(metric).score(np.zeros((4, counts.shape[1]))).tolist() == [0.0] * 4


@pytest.mark.parametrize(
    ("gold", "predicted"), [([1.0, 2.0, 3.3], [5.0, 6.0, 7.0]), ([1.1] * 3, [0.3, 0.2, 0.1])]
)
def test_a_constant_side_has_no_correlation(gold: list[float], predicted: list[float]) -> None:
    metric = metrics.get("pearson")
    assert metric.score(metric.counts(gold, predicted).sum(0)) == 0
