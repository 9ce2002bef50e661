"""Seen and unseen strings, against an independent count."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from blurb import tasks
from blurb.data.seen import Mentions, Pairs, Words
from blurb.inputs.tagging import Span, tags

NER, PICO, RELATION = (tasks.get(name) for name in ("ncbi-disease", "ebm-pico", "chemprot"))
KINDS = ("Disease", "Gene")


@st.composite
def sentences(draw: st.DrawFn, scheme: str, kinds: tuple[str, ...]) -> dict[str, Any]:
    """Words of a small vocabulary, with mentions that do not overlap."""
    words = draw(st.lists(st.sampled_from(["a", "A", "b", "c"]), min_size=1, max_size=7))
    spans, start = [], 0
    while start < len(words):
        length = draw(st.integers(0, min(3, len(words) - start)))
        if length:
            spans.append(Span(start, start + length, draw(st.sampled_from(kinds))))
        start += length or 1
    return {"tokens": words, "tags": tags(spans, len(words), scheme)}


def spans_of(tagged: list[str]) -> set[tuple[int, int, str]]:
    """The mentions of BIO tags, letter by letter: an I that continues nothing begins one."""
    found: set[tuple[int, int, str]] = set()
    start = None
    for place, tag in enumerate([*tagged, "O"]):
        goes_on = tag[:1] == "I" and start is not None and tagged[place - 1][2:] == tag[2:]
        if start is not None and not goes_on:
            found.add((start, place, tagged[start][2:]))
            start = None
        if tag != "O" and start is None:
            start = place
    return found


@given(
    st.lists(sentences("bio", KINDS), max_size=4),
    st.lists(st.tuples(sentences("bio", KINDS), st.data()), min_size=1, max_size=4),
)
def test_mentions_are_counted_as_one_by_one(
    train: list[dict[str, Any]], scored: list[tuple[dict[str, Any], st.DataObject]]
) -> None:
    examples = [example for example, _ in scored]
    letters = st.sampled_from(["O", *(f"{prefix}-{kind}" for prefix in "BI" for kind in KINDS)])
    predicted = [
        data.draw(st.lists(letters, min_size=len(row["tokens"]), max_size=len(row["tokens"])))
        for row, data in scored
    ]
    known: dict[str, set[str]] = {}
    for row in train:
        for start, end, kind in spans_of(row["tags"]):
            known.setdefault(" ".join(row["tokens"][start:end]).lower(), set()).add(kind)
    expected, others = np.zeros((len(examples), 2, 3)), 0
    for place, (row, answer) in enumerate(zip(examples, predicted, strict=True)):
        gold, given_ = spans_of(row["tags"]), spans_of(answer)
        for side, mentions in ((0, gold & given_), (1, given_), (2, gold)):
            for start, end, _ in mentions:
                string = " ".join(row["tokens"][start:end]).lower()
                expected[place, 0 if string in known else 1, side] += 1
        for start, end, kind in gold:
            types = known.get(" ".join(row["tokens"][start:end]).lower())
            others += types is not None and kind not in types
    counts, counted_others = Mentions(NER, train).count(
        examples, [row["tags"] for row in examples], predicted
    )
    assert counts.tolist() == expected.tolist()
    assert counted_others == others


def test_a_word_of_pico_is_seen_with_its_own_label_alone() -> None:
    train = [{"tokens": ["Women", "with", "pain"], "tags": ["I-PAR", "I-PAR", "I-OUT"]}]
    row = {"tokens": ["women", "PAIN", "with", "new"]}
    gold, predicted = ["I-PAR", "I-PAR", "O", "I-INT"], ["I-PAR", "I-OUT", "I-PAR", "I-INT"]
    counts, others = Words(PICO, train).count([row], [gold], [predicted])
    assert counts.tolist() == [[[1, 0, 1], [1, 0, 2]]]
    assert others == 1  # pain, which train has as an outcome


def relation(head: str, tail: str, label: str) -> dict[str, Any]:
    text = f"{head} and {tail}"
    return {
        "text": text,
        "head": {"start": 0, "end": len(head), "type": "CHEMICAL"},
        "tail": {"start": len(text) - len(tail), "end": len(text), "type": "GENE"},
        "label": label,
    }


def test_a_pair_is_seen_if_both_names_stand_in_a_positive_pair_of_train() -> None:
    train = [relation("Aspirin", "COX-1", "CPR:4"), relation("aspirin", "p53", "false")]
    rows = [
        relation("COX-1", "aspirin", "CPR:4"),  # the other way round, found
        relation("aspirin", "cox-1", "CPR:3"),  # with another class, which train has not
        relation("aspirin", "p53", "CPR:4"),  # train has it as no pair
        relation("x", "y", "false"),  # invented
        relation("x", "y", "false"),
    ]
    predicted = ["CPR:4", "CPR:4", "false", "CPR:9", "false"]
    counts, others = Pairs(RELATION, train).count(rows, [row["label"] for row in rows], predicted)
    assert counts.sum(0).tolist() == [[1, 2, 2], [0, 1, 1]]
    assert others == 1


def test_strings_have_the_types_of_train() -> None:
    train = [
        {"tokens": ["BRCA1", "x", "brca1"], "tags": ["B-Gene", "O", "B-Disease"]},
        {"tokens": ["BRCA1"], "tags": ["B-Gene"]},
    ]
    assert Mentions(NER, train).strings == {"brca1": {"Gene": 2, "Disease": 1}}


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("bc5-chem", 60.9),
        ("bc5-disease", 63.4),
        ("ncbi-disease", 62.3),
        ("bc2gm", 40.5),
        ("jnlpba", 57.1),
    ],
)
def test_shares_of_seen_mentions_in_the_real_files(name: str, share: float, real_rows: Any) -> None:
    """Counted by independent code for the review of 1ec2948e."""
    rows = real_rows(name, "test")
    gold = [row["tags"] for row in rows]
    counts, others = Mentions(tasks.get(name), real_rows(name, "train")).count(rows, gold, gold)
    seen, unseen = counts.sum(0)[:, 2]
    assert round(100 * seen / (seen + unseen), 1) == share
    assert others == 0  # all have one type
