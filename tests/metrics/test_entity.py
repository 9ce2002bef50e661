"""Oracle: seqeval 1.2.2, in its default mode and in mode="strict", scheme=IOB2."""

import random

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.scheme import IOB2

from blurb.metrics import entity_counts, entity_f1

Pair = tuple[list[list[str]], list[list[str]]]

UNTYPED = ("O", "B", "I")
TYPED = ("O", "B-X", "I-X", "B-Y", "I-Y")
MIXED = ("O", "B", "I", "B-X", "I-X", "I-long-type", "B-ü", "I-ü")
IOBES = ("O", "B", "I", "E", "S", "B-X", "I-X", "E-X", "S-X", "E-Y")


@st.composite
def pairs(draw: st.DrawFn, tags: tuple[str, ...]) -> Pair:
    """Gold and predicted tags of a few sentences, some of them empty: any tag may follow any other."""
    lengths = draw(st.lists(st.integers(0, 8), max_size=5))
    tag = st.sampled_from(tags)
    gold, predicted = (
        [draw(st.lists(tag, min_size=n, max_size=n)) for n in lengths] for _ in range(2)
    )
    return gold, predicted


def assert_equals_seqeval(
    gold: list[list[str]], predicted: list[list[str]], *, strict: bool
) -> None:
    ours = entity_f1(gold, predicted, strict=strict)
    options = {"mode": "strict", "scheme": IOB2} if strict else {}
    for key, score in (("f1", f1_score), ("precision", precision_score), ("recall", recall_score)):
        # seqeval refuses input without sentences; what is undefined is 0 there too
        theirs = score(gold, predicted, zero_division=0, **options) if gold else 0.0
        assert ours[key] == pytest.approx(theirs, abs=1e-12), key


@settings(max_examples=100)
@given(pairs(UNTYPED) | pairs(TYPED) | pairs(MIXED) | pairs(IOBES))
def test_lenient_equals_seqeval(pair: Pair) -> None:
    assert_equals_seqeval(*pair, strict=False)


@settings(max_examples=100)
@given(pairs(UNTYPED) | pairs(TYPED) | pairs(MIXED))
def test_strict_equals_seqeval(pair: Pair) -> None:
    assert_equals_seqeval(*pair, strict=True)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("tags", [UNTYPED, TYPED])
def test_large_random_input_equals_seqeval(tags: tuple[str, ...], strict: bool) -> None:
    draw = random.Random(1)
    gold = [draw.choices(tags, k=draw.randrange(60)) for _ in range(200)]
    predicted = [
        [tag if draw.random() < 0.8 else draw.choice(tags) for tag in sentence] for sentence in gold
    ]
    assert_equals_seqeval(gold, predicted, strict=strict)
    # The test would be empty at 0 or 1
    assert 0.2 < entity_f1(gold, predicted, strict=strict)["f1"] < 0.9


@settings(max_examples=50)
@given(pairs(IOBES))
def test_l_is_e_and_u_is_s(pair: Pair) -> None:
    as_bioul = [
        [[tag.replace("E", "L").replace("S", "U") for tag in words] for words in side]
        for side in pair
    ]
    assert entity_f1(*as_bioul) == entity_f1(*pair)


@settings(max_examples=50)
@given(pairs(MIXED), st.booleans())
def test_counts_are_by_sentence_and_sum_to_the_score(pair: Pair, strict: bool) -> None:
    gold, predicted = pair
    counts = entity_counts(gold, predicted, strict=strict)
    assert counts.shape == (len(gold), 3)
    assert np.issubdtype(counts.dtype, np.integer)
    for row, gold_words, predicted_words in zip(counts, gold, predicted, strict=True):
        alone = entity_f1([gold_words], [predicted_words], strict=strict)
        assert row.tolist() == [alone["true_positives"], alone["predicted"], alone["gold"]]
    whole = entity_f1(gold, predicted, strict=strict)
    assert counts.sum(axis=0).tolist() == [
        whole["true_positives"],
        whole["predicted"],
        whole["gold"],
    ]


@pytest.mark.parametrize(
    ("gold", "predicted", "lenient", "strict"),
    [("B I O", "I I O", 1.0, 0.0), ("B I I O", "O I I O", 0.0, 0.0), ("B B O", "B I O", 0.0, 0.0)],
)
def test_orphan_i_table_of_the_protocol(
    gold: str, predicted: str, lenient: float, strict: float
) -> None:
    """docs/benchmark.md, "Orphan I"."""
    assert entity_f1([gold.split()], [predicted.split()])["f1"] == lenient
    assert entity_f1([gold.split()], [predicted.split()], strict=True)["f1"] == strict


def test_entities_do_not_cross_sentences() -> None:
    counts = entity_counts([["O", "B"], [], ["I", "O"]], [["O", "B"], [], ["O", "O"]])
    assert counts.tolist() == [[1, 1, 1], [0, 0, 0], [0, 0, 1]]


def test_type_must_agree() -> None:
    assert entity_f1([["B-X", "I-X"]], [["B-Y", "I-Y"]])["true_positives"] == 0
    assert entity_f1([["B-X", "I-X"]], [["B-X", "I-Y"]])["predicted"] == 2
    # Gold is read letter by letter, predicted is not
    assert entity_f1([["B"]], [["B-X"]])["true_positives"] == 0


def test_keys_are_floats_and_f1_comes_first() -> None:
    scores = entity_f1([["B", "I", "O", "B"]], [["B", "I", "O", "O"]])
    assert scores == {
        "f1": pytest.approx(2 / 3),
        "precision": 1.0,
        "recall": 0.5,
        "true_positives": 1.0,
        "predicted": 1.0,
        "gold": 2.0,
    }
    assert next(iter(scores)) == "f1"
    assert all(type(value) is float for value in scores.values())


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("sentences", [[], [[]], [[], []], [["O"]], [["O", "O"], []]])
def test_nothing_to_find_is_zero(sentences: list[list[str]], strict: bool) -> None:
    assert set(entity_f1(sentences, sentences, strict=strict).values()) == {0.0}
    assert entity_counts(sentences, sentences, strict=strict).shape == (len(sentences), 3)


@pytest.mark.parametrize("count", [100, 300, 60_000])
def test_any_number_of_types(count: int) -> None:
    """Tags are numbered by characters: beyond 256 they need more bytes, beyond 55,296 lie the surrogates."""
    gold = [[f"B-{number}" for number in range(count)]]
    assert entity_f1(gold, [[*gold[0][:-1], "B-other"]])["true_positives"] == count - 1


def test_sequences_need_not_be_lists() -> None:
    assert entity_f1((("B", "I"), ("O",)), [np.array(["B", "I"]), np.array(["O"])])["f1"] == 1.0  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("gold", "predicted", "strict", "told"),
    [
        (
            [["O"], ["B", "I"]],
            [["O"], ["B", "I", "O"]],
            False,
            r"Sentence 1 \(counting from 0\) has 2 gold tags and 3 predicted tags",
        ),
        ([["O"], ["O"]], [["O"]], False, "gold has 2 sentences, predicted has 1: sentence 1"),
        *(
            ([["O"]], [[tag]], True, "expected one of B, I, O,")
            for tag in ("E", "S", "L", "U", "E-X")
        ),
        (["B", "I"], ["B", "I"], False, "gold is a flat sequence of strings"),
        ([["B"]], "BIO", False, "predicted is the single string 'BIO'"),
    ],
)
def test_unequal_lengths_flat_tags_and_for_strict_other_schemes_are_refused(
    gold: list[list[str]], predicted: list[list[str]], strict: bool, told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        entity_f1(gold, predicted, strict=strict)


@pytest.mark.parametrize(
    "tag", ["", "X", "é", "中", "BI", "b", "OUT", "X-B", "-B", "B_X", "Disease", "O\n"]
)
@pytest.mark.parametrize("others", [["O", "B"], ["O", "B-X"]])
def test_what_is_no_tag_is_refused(tag: str, others: list[str]) -> None:
    with pytest.raises(
        ValueError, match="is not a valid tag: expected one of B, I, O, E, S, L, U"
    ) as error:
        entity_f1([[*others, "O"]], [[*others, tag]])
    assert repr(tag) in str(error.value)
