"""Spans and tags. Oracle: seqeval's `get_entities`."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from blurb.inputs.tagging import Span, bio_labels, bio_tags, spans

TAGS = st.lists(st.sampled_from(["O", "B-A", "I-A", "B-B", "I-B"]), max_size=12)


@settings(max_examples=400, deadline=None)
@given(TAGS)
def test_spans_are_those_of_seqeval(tags: list[str]) -> None:
    expected = [Span(start, last + 1, kind) for kind, start, last in get_entities(tags)]
    assert spans(tags) == expected


@settings(max_examples=200, deadline=None)
@given(TAGS)
def test_bio_tags_of_the_spans_have_the_same_spans(tags: list[str]) -> None:
    written = bio_tags(spans(tags), len(tags))
    assert len(written) == len(tags)
    assert spans(written) == spans(tags)
    assert bio_tags(spans(written), len(tags)) == written
    assert [tag == "O" for tag in written] == [tag == "O" for tag in tags]
    for before, tag in zip(["O", *written], written, strict=False):
        assert not tag.startswith("I") or before[1:] == tag[1:]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), st.sampled_from("AB")), max_size=5))
def test_any_disjoint_entities_come_back(parts: list[tuple[int, int, str]]) -> None:
    entities, place = [], 0
    for gap, size, kind in parts:
        entities.append(Span(place + gap, place + gap + size, kind))
        place += gap + size
    assert spans(bio_tags(entities, place + 1)) == entities


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ([], []),
        (["I-A", "I-A"], [Span(0, 2, "A")]),
        (["I-A", "I-B"], [Span(0, 1, "A"), Span(1, 2, "B")]),
        (["B-A", "I-B"], [Span(0, 1, "A"), Span(1, 2, "B")]),
        (["B-A", "B-A"], [Span(0, 1, "A"), Span(1, 2, "A")]),
        (["I-A", "O", "I-A"], [Span(0, 1, "A"), Span(2, 3, "A")]),
        (["B-A-1", "I-A-1"], [Span(0, 2, "A-1")]),
    ],
)
def test_worked_examples(tags: list[str], expected: list[Span]) -> None:
    assert spans(tags) == expected


def test_outside_is_the_first_label() -> None:
    assert bio_labels(["PAR", "INT"]) == ("O", "B-PAR", "I-PAR", "B-INT", "I-INT")
