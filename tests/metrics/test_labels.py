"""Oracle: scikit-learn. The figures of trivial predictors are reached from the published class counts.

They stand in docs/benchmark.md, "GAD" and docs/benchmark.md, "PubMedQA".
"""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

from blurb.metrics import accuracy, binary_f1, micro_f1_without

CLASSES = ("CPR:3", "CPR:4", "CPR:9", "false")
SCORES = (("f1", f1_score), ("precision", precision_score), ("recall", recall_score))

label_pairs = st.lists(
    st.tuples(st.sampled_from(CLASSES), st.sampled_from(CLASSES)), min_size=1, max_size=40
)


@settings(max_examples=40)
@given(label_pairs)
def test_micro_f1_without_equals_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    gold, predicted = map(list, zip(*pairs, strict=True))
    ours = micro_f1_without(gold, predicted, negative="false")
    for key, score in SCORES:
        theirs = score(gold, predicted, labels=CLASSES[:-1], average="micro", zero_division=0)
        assert ours[key] == pytest.approx(theirs, abs=1e-12)


@settings(max_examples=40)
@given(label_pairs)
def test_binary_f1_and_accuracy_equal_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    gold, predicted = map(list, zip(*pairs, strict=True))
    assert accuracy(gold, predicted)["accuracy"] == pytest.approx(accuracy_score(gold, predicted))
    ours = binary_f1(gold, predicted, positive="false")
    is_gold, is_predicted = ([label == "false" for label in side] for side in (gold, predicted))
    for key, score in SCORES:
        assert ours[key] == pytest.approx(score(is_gold, is_predicted, zero_division=0), abs=1e-12)


def test_always_positive_on_gad() -> None:
    """281 positive and 253 negative test sentences (docs/benchmark.md, "GAD"): 68.96, or 52.6 as accuracy."""
    gold, predicted = ["1"] * 281 + ["0"] * 253, ["1"] * 534
    assert round(100 * binary_f1(gold, predicted, positive="1")["f1"], 2) == 68.96
    assert round(100 * accuracy(gold, predicted)["accuracy"], 1) == 52.6


def test_majority_class_on_pubmedqa() -> None:
    """276 yes, 169 no, 55 maybe (docs/benchmark.md, "PubMedQA")."""
    gold = ["yes"] * 276 + ["no"] * 169 + ["maybe"] * 55
    assert accuracy(gold, ["yes"] * 500) == {"accuracy": pytest.approx(0.552)}


def test_negative_class_is_no_reward() -> None:
    gold = ["false"] * 98 + ["effect", "int"]
    scores = micro_f1_without(gold, ["false"] * 98 + ["effect", "false"], negative="false")
    assert scores == {"f1": pytest.approx(2 / 3), "precision": 1.0, "recall": 0.5}
    assert list(scores) == ["f1", "precision", "recall"]
    assert all(type(value) is float for value in scores.values())


def test_wrong_positive_class_counts_on_both_sides() -> None:
    scores = micro_f1_without(["effect", "effect"], ["effect", "int"], negative="false")
    assert scores == {"f1": 0.5, "precision": 0.5, "recall": 0.5}


@pytest.mark.parametrize("labels", [[], ["false", "false"]])
def test_nothing_to_find_is_zero(labels: list[str]) -> None:
    zero = {"f1": 0.0, "precision": 0.0, "recall": 0.0}
    assert micro_f1_without(labels, labels, negative="false") == zero
    assert binary_f1(labels, labels, positive="1") == zero
    assert accuracy([], []) == {"accuracy": 0.0}


UNEQUAL = r"gold has 2 labels, predicted has 3: label 2 \(counting from 0\)"


@pytest.mark.parametrize(
    ("metric", "gold", "predicted", "options", "told"),
    [
        (accuracy, ["a", "b"], ["a", "b", "c"], {}, UNEQUAL),
        (binary_f1, ["a", "b"], ["a", "b", "c"], {"positive": "a"}, UNEQUAL),
        (micro_f1_without, ["a", "b"], ["a", "b", "c"], {"negative": "a"}, UNEQUAL),
        (accuracy, "yes", "yes", {}, "gold is the single string 'yes'"),
    ],
)
def test_unequal_lengths_and_a_string_for_a_list_are_named(
    metric: Callable[..., object], gold: Any, predicted: Any, options: dict[str, str], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        metric(gold, predicted, **options)
