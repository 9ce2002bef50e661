"""Oracle: scikit-learn on indicator matrices; for `document_f1` also BLUE's definition, written out."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.metrics import f1_score, precision_score, recall_score

from blurb.metrics import multilabel_f1

LABELS = ("A", "B", "C", "never")
Documents = list[tuple[set[str], set[str]]]

label_sets = st.sets(st.sampled_from(LABELS[:-1]))
documents = st.lists(st.tuples(label_sets, label_sets), min_size=1, max_size=12)


def indicators(document_labels: list[set[str]]) -> np.ndarray:
    return np.array(
        [[label in labels for label in LABELS] for labels in document_labels], dtype=int
    )


@settings(max_examples=50)
@given(documents)
def test_equals_scikit_learn(pairs: Documents) -> None:
    gold, predicted = map(list, zip(*pairs, strict=True))
    scores = multilabel_f1(gold, predicted, LABELS)
    matrices = indicators(gold), indicators(predicted)
    for key, score, average in (
        ("micro_f1", f1_score, "micro"),
        ("macro_f1", f1_score, "macro"),
        ("precision", precision_score, "micro"),
        ("recall", recall_score, "micro"),
    ):
        assert scores[key] == pytest.approx(
            score(*matrices, average=average, zero_division=0), abs=1e-12
        ), key


@settings(max_examples=50)
@given(documents.map(lambda pairs: [pair for pair in pairs if pair[0]]).filter(bool))
def test_document_f1_equals_scikit_learn_where_all_have_gold_labels(pairs: Documents) -> None:
    """This is BLUE's test set: it has no document without gold labels."""
    gold, predicted = map(list, zip(*pairs, strict=True))
    matrices = indicators(gold), indicators(predicted)
    precision = precision_score(*matrices, average="samples", zero_division=0)
    recall = recall_score(*matrices, average="samples", zero_division=0)
    assert multilabel_f1(gold, predicted, LABELS)["document_f1"] == pytest.approx(
        (2 * precision * recall / (precision + recall) if precision + recall else 0.0), abs=1e-12
    )


@pytest.mark.parametrize(
    ("gold", "predicted", "figure", "expected"),
    [
        ([set()], [set()], "document_f1", 1.0),
        ([set()], [set()], "micro_f1", 0.0),  # no cell to be right about
        ([set()], [{"A"}], "document_f1", 0.0),
        ([{"A"}], [set()], "document_f1", 0.0),
        ([{"A"}, set()], [{"B"}, set()], "document_f1", 0.5),
    ],
)
def test_documents_empty_on_both_sides_are_right(
    gold: list[set[str]], predicted: list[set[str]], figure: str, expected: float
) -> None:
    assert multilabel_f1(gold, predicted, LABELS)[figure] == expected


def test_the_three_figures_differ() -> None:
    scores = multilabel_f1([{"A", "B"}, {"A"}, {"C"}], [{"A"}, {"A", "B"}, {"C"}], ("A", "B", "C"))
    assert scores == pytest.approx(
        {
            "micro_f1": 2 * 3 / (4 + 4),
            "macro_f1": (1 + 0 + 1) / 3,
            "document_f1": (1 + 1 / 2 + 1) / 3,
            "precision": 3 / 4,
            "recall": 3 / 4,
        }
    )
    assert next(iter(scores)) == "micro_f1"
    assert all(type(value) is float for value in scores.values())


def test_any_collection_will_do() -> None:
    expected = multilabel_f1([{"A", "B"}, set()], [{"A"}, {"C"}], LABELS)
    assert multilabel_f1([["B", "A", "A"], ()], [("A",), frozenset("C")], list(LABELS)) == expected


def test_no_documents() -> None:
    assert set(multilabel_f1([], [], LABELS).values()) == {0.0}


@pytest.mark.parametrize(
    ("gold", "predicted", "labels", "told"),
    [
        (
            [{"A"}, {"A"}],
            [{"A"}, {"Z"}],
            LABELS,
            r"predicted document 1 \(counting from 0\) has the unknown label 'Z'",
        ),
        ([{"Z"}], [{"A"}], LABELS, r"gold document 0 .* Known: A, B, C, never"),
        ([{"A"}], [{"A"}, {"A"}], LABELS, "gold has 1 documents, predicted has 2: document 1"),
        (["A"], [{"A"}], LABELS, "gold document 0 is the string 'A'"),
        ([set()], [set()], (), "Pass a sequence of label names"),
    ],
)
def test_unknown_labels_and_other_shapes_are_named(
    gold: list[set[str]], predicted: list[set[str]], labels: tuple[str, ...], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        multilabel_f1(gold, predicted, labels)
