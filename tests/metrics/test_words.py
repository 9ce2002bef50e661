"""Oracles: scikit-learn's macro-F1 over the labels, and LinkBERT's way, which is seqeval on tags all rewritten to B."""

from itertools import chain

import pytest
from hypothesis import given, settings, strategies as st
from seqeval.metrics import f1_score as seqeval_f1
from sklearn.metrics import f1_score

from blurb.metrics import token_macro_f1

LABELS = ("PAR", "INT", "OUT")
TAGS = ("O", "I-PAR", "B-PAR", "L-INT", "I-INT", "U-OUT", "E-OUT", "S-PAR")

sentence_pairs = st.lists(
    st.lists(st.tuples(st.sampled_from(TAGS), st.sampled_from(TAGS)), max_size=8), max_size=5
)


def sides(pairs: list[list[tuple[str, str]]]) -> tuple[list[list[str]], list[list[str]]]:
    return [[gold for gold, _ in words] for words in pairs], [
        [predicted for _, predicted in words] for words in pairs
    ]


@settings(max_examples=60)
@given(sentence_pairs)
def test_equals_scikit_learn(pairs: list[list[tuple[str, str]]]) -> None:
    gold, predicted = sides(pairs)
    flat_gold, flat_predicted = (
        [tag.partition("-")[2] for tag in chain(*side)] for side in (gold, predicted)
    )
    scores = token_macro_f1(gold, predicted)
    if not flat_gold:
        assert set(scores.values()) == {0.0}
        return
    options = {"labels": LABELS, "zero_division": 0}
    assert scores["macro_f1"] == pytest.approx(
        f1_score(flat_gold, flat_predicted, average="macro", **options)
    )
    per_label = f1_score(flat_gold, flat_predicted, average=None, **options)
    assert [scores[f"f1_{label}"] for label in LABELS] == pytest.approx(list(per_label))


@settings(max_examples=30)
@given(sentence_pairs.filter(any))
def test_equals_the_rewriting_to_b(pairs: list[list[tuple[str, str]]]) -> None:
    gold, predicted = sides(pairs)
    scores = token_macro_f1(gold, predicted)
    for label in LABELS:
        as_b = [
            [["B" if tag.endswith(label) else "O" for tag in words] for words in side]
            for side in (gold, predicted)
        ]
        assert scores[f"f1_{label}"] == pytest.approx(seqeval_f1(*as_b, zero_division=0))


def test_worked_example() -> None:
    """PAR: 1 right of 2 predicted, 1 gold. INT: 1 of 1 of 1. OUT: 0 of 0 of 1."""
    scores = token_macro_f1(
        [["I-PAR", "O", "I-INT"], ["I-OUT"]], [["B-PAR", "I-PAR", "U-INT"], ["O"]]
    )
    assert scores == pytest.approx(
        {"macro_f1": 5 / 9, "f1_PAR": 2 / 3, "f1_INT": 1.0, "f1_OUT": 0.0}
    )
    assert list(scores) == ["macro_f1", "f1_PAR", "f1_INT", "f1_OUT"]
    assert all(type(value) is float for value in scores.values())


def test_is_not_span_f1() -> None:
    """Half of a span found is half right by words and all wrong by spans (docs/benchmark.md, "EBM PICO")."""
    gold, predicted = [["I-A", "I-A"]], [["I-A", "O"]]
    assert token_macro_f1(gold, predicted, labels=("A",))["macro_f1"] == pytest.approx(2 / 3)
    assert seqeval_f1(gold, predicted) == 0.0


@pytest.mark.parametrize(
    ("gold", "predicted", "labels", "told"),
    [
        *(
            (
                [["O"]],
                [[tag]],
                LABELS,
                "is not a valid tag: expected 'O' or a prefix and one of PAR, INT, OUT",
            )
            for tag in ("I-PARTICIPANT", "PAR", "OUT", "I", "I-", "", "O-PAR", "X-PAR", "i-PAR")
        ),
        (
            [["O", "O"]],
            [["O"]],
            LABELS,
            r"Sentence 0 \(counting from 0\) has 2 gold tags and 1 predicted tags",
        ),
        *(
            (
                [["O"]],
                [["O"]],
                labels,
                "Pass a sequence of label names, at least one and none twice",
            )
            for labels in ((), ("PAR", "PAR"), "PAR")
        ),
    ],
)
def test_what_is_no_tag_unequal_lengths_and_what_are_no_labels_are_refused(
    gold: list[list[str]], predicted: list[list[str]], labels: tuple[str, ...], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        token_macro_f1(gold, predicted, labels=labels)
