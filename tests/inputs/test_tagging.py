"""Tagging schemes. Oracles: seqeval's readings, `blurb.metrics.entity_f1`, and the rules of each scheme as patterns."""

import itertools
import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings, strategies as st
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import BILOU, IOB2, IOBES, Entities, Token

from blurb import metrics
from blurb.inputs.tagging import (
    SCHEMES,
    Span,
    convert_tags,
    decode_spans,
    labels,
    scheme_name,
    tagging_rules,
    tags,
)
from blurb.messages.errors import UnknownName

LEGAL = {"io": "(O|I+)*", "bio": "(O|BI*)*", "bioul": "(O|U|BI*L)*"}
"""The legal sequences of one type."""
NAMES = st.sampled_from(sorted(SCHEMES))


@st.composite
def anything(draw: st.DrawFn, scheme: str | None = None) -> tuple[str, list[str]]:
    """A scheme, and any sequence of its tags."""
    name = scheme or draw(NAMES)
    return name, draw(st.lists(st.sampled_from(labels("AB", name)), max_size=12))


@st.composite
def entities(draw: st.DrawFn, least_gap: int = 0) -> tuple[list[Span], int]:
    """Disjoint entities and the length of their sentence."""
    found, place = [], 0
    for gap, size, kind in draw(
        st.lists(
            st.tuples(st.integers(least_gap, 2), st.integers(1, 4), st.sampled_from("AB")),
            max_size=5,
        )
    ):
        found.append(Span(place + gap, place + gap + size, kind))
        place += gap + size
    return found, place + draw(st.integers(0, 2))


def is_legal(sequence: Sequence[str], scheme: str, types: Sequence[str] = "AB") -> bool:
    """By the rules alone."""
    known = labels(types, scheme)
    found, numbers = tagging_rules(known, scheme), [known.index(tag) for tag in sequence]
    return not numbers or bool(
        found.start_transitions[numbers[0]]
        and found.end_transitions[numbers[-1]]
        and all(found.transitions[a, b] for a, b in itertools.pairwise(numbers))
    )


# Round trips


@given(
    st.tuples(entities(), st.sampled_from(["bio", "bioul"]))
    | st.tuples(entities(least_gap=1), st.just("io"))
)
def test_any_entities_come_back_from_bio_and_bioul_and_entities_apart_from_io(
    given_: tuple[tuple[list[Span], int], str],
) -> None:
    (found, length), scheme = given_
    assert decode_spans(tags(found, length, scheme), scheme) == found


@given(entities(), NAMES)
def test_what_is_written_is_legal_and_marks_the_words_of_the_entities(
    given_: tuple[list[Span], int], scheme: str
) -> None:
    found, length = given_
    written = tags(found, length, scheme)
    assert is_legal(written, scheme)
    inside = {word for span in found for word in range(span.start, span.end)}
    assert [tag != "O" for tag in written] == [word in inside for word in range(length)]


@pytest.mark.costly
@settings(max_examples=400)
@given(anything())
def test_a_sequence_comes_back_if_and_only_if_it_is_legal(given_: tuple[str, list[str]]) -> None:
    scheme, sequence = given_
    assert (convert_tags(sequence, scheme, scheme) == sequence) == is_legal(sequence, scheme)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_all_short_sequences_come_back_if_and_only_if_they_are_legal(scheme: str) -> None:
    """Exhaustive where hypothesis seldom finds a legal one."""
    for length in range(5):
        for sequence in map(list, itertools.product(labels("AB", scheme), repeat=length)):
            assert (convert_tags(sequence, scheme, scheme) == sequence) == is_legal(
                sequence, scheme
            )


@given(entities(), st.sampled_from(["bio", "bioul"]), st.sampled_from(["bio", "bioul"]))
def test_legal_sequences_survive_another_scheme(
    given_: tuple[list[Span], int], source: str, target: str
) -> None:
    written = tags(*given_, source)
    assert convert_tags(convert_tags(written, source, target), target, source) == written


# Illegal sequences


@pytest.mark.costly
@settings(max_examples=400)
@given(anything())
def test_illegal_sequences_are_read_as_the_metric_reads_them(given_: tuple[str, list[str]]) -> None:
    scheme, sequence = given_
    repaired = convert_tags(sequence, scheme, "bio")
    assert is_legal(repaired, "bio")
    found = metrics.entity_f1([repaired], [sequence])
    assert (
        found["gold"]
        == found["predicted"]
        == found["true_positives"]
        == len(decode_spans(sequence, scheme))
    )


@pytest.mark.costly
@settings(max_examples=400)
@given(anything())
def test_repair_keeps_the_type_of_every_word(given_: tuple[str, list[str]]) -> None:
    scheme, sequence = given_
    for target in SCHEMES:
        assert [tag[1:] for tag in convert_tags(sequence, scheme, target)] == [
            tag[1:] for tag in sequence
        ]


@pytest.mark.costly
@settings(max_examples=400)
@given(st.sampled_from(["io", "bio"]).flatmap(anything))
def test_io_and_bio_are_read_as_by_the_default_of_seqeval(given_: tuple[str, list[str]]) -> None:
    scheme, sequence = given_
    assert decode_spans(sequence, scheme) == [
        Span(start, last + 1, kind) for kind, start, last in get_entities(sequence)
    ]


@settings(max_examples=400)
@given(anything("bioul"))
def test_bioul_is_read_as_iobes_by_the_default_of_seqeval(given_: tuple[str, list[str]]) -> None:
    """seqeval's default mode knows the letters of IOBES only."""
    iobes = [tag.translate(str.maketrans("LU", "ES")) for tag in given_[1]]
    expected = [Span(start, last + 1, kind) for kind, start, last in get_entities(iobes)]
    assert decode_spans(given_[1], "bioul") == decode_spans(iobes, "iobes") == expected


@given(entities())
def test_what_is_written_is_read_by_the_strict_mode_of_seqeval(
    given_: tuple[list[Span], int],
) -> None:
    found, length = given_
    oracles: list[tuple[str, type[Token]]] = [("bio", IOB2), ("bioul", BILOU), ("iobes", IOBES)]
    for scheme, oracle in oracles:
        written = tags(found, length, scheme)
        if oracle is IOBES:
            written = [tag.translate(str.maketrans("LU", "ES")) for tag in written]
        (read,) = Entities([written], oracle).entities
        assert [Span(entity.start, entity.end, entity.tag) for entity in read] == found


@pytest.mark.parametrize(
    ("scheme", "sequence", "expected"),
    [
        ("bio", [], []),
        ("bio", ["I-A", "I-A"], [(0, 2, "A")]),
        ("bio", ["I-A", "I-B"], [(0, 1, "A"), (1, 2, "B")]),
        ("bio", ["B-A", "I-B"], [(0, 1, "A"), (1, 2, "B")]),
        ("bio", ["B-A", "B-A"], [(0, 1, "A"), (1, 2, "A")]),
        ("bio", ["I-A", "O", "I-A"], [(0, 1, "A"), (2, 3, "A")]),
        ("bio", ["B-A-1", "I-A-1"], [(0, 2, "A-1")]),
        ("bio", ["B", "I", "B"], [(0, 2, ""), (2, 3, "")]),
        ("io", ["I-A", "I-A", "I-B"], [(0, 2, "A"), (2, 3, "B")]),
        ("bioul", ["B-A", "O"], [(0, 1, "A")]),
        ("bioul", ["B-A", "U-A"], [(0, 1, "A"), (1, 2, "A")]),
        ("bioul", ["B-A", "B-A", "L-A"], [(0, 1, "A"), (1, 3, "A")]),
        ("bioul", ["I-A", "L-A", "L-A"], [(0, 2, "A"), (2, 3, "A")]),
        ("bioul", ["U-A", "I-A"], [(0, 1, "A"), (1, 2, "A")]),
        ("bioul", ["B-A", "I-B", "L-A"], [(0, 1, "A"), (1, 2, "B"), (2, 3, "A")]),
    ],
)
def test_worked_examples(
    scheme: str, sequence: list[str], expected: list[tuple[int, int, str]]
) -> None:
    assert decode_spans(sequence, scheme) == [Span(*span) for span in expected]


# Rules


@pytest.mark.parametrize("scheme", SCHEMES)
def test_rules_of_one_type_are_those_of_a_pattern(scheme: str) -> None:
    for length in range(6):
        for sequence in itertools.product(labels([""], scheme), repeat=length):
            legal = bool(re.fullmatch(LEGAL[scheme], "".join(sequence)))
            assert is_legal(sequence, scheme, [""]) == legal


def test_no_entity_goes_on_in_another_type() -> None:
    known = labels("AB", "bioul")
    found = tagging_rules(known, "bioul")
    follows = {
        tag: {after for j, after in enumerate(known) if found.transitions[i, j]}
        for i, tag in enumerate(known)
    }
    free = {"O", "B-A", "U-A", "B-B", "U-B"}
    assert follows == {
        "O": free,
        "B-A": {"I-A", "L-A"},
        "I-A": {"I-A", "L-A"},
        "L-A": free,
        "U-A": free,
        "B-B": {"I-B", "L-B"},
        "I-B": {"I-B", "L-B"},
        "L-B": free,
        "U-B": free,
    }


def test_rules_follow_the_order_of_the_tags() -> None:
    found = tagging_rules(["I-A", "O", "B-A"], "bio")
    assert found.start_transitions.tolist() == [False, True, True]
    assert found.transitions.tolist() == [[True] * 3, [False, True, True], [True] * 3]


# Names


@pytest.mark.parametrize(
    ("types", "scheme", "expected"),
    [
        (["PAR", "INT"], "io", ("O", "I-PAR", "I-INT")),
        (["PAR", "INT"], "bio", ("O", "B-PAR", "I-PAR", "B-INT", "I-INT")),
        (["PAR"], "bilou", ("O", "B-PAR", "I-PAR", "L-PAR", "U-PAR")),
    ],
)
def test_labels_begin_with_outside(
    types: list[str], scheme: str, expected: tuple[str, ...]
) -> None:
    assert labels(types, scheme) == expected


@pytest.mark.parametrize(
    ("name", "known"), [("BIO", "bio"), ("BILOU", "bioul"), ("IOBES", "bioul"), ("io", "io")]
)
def test_other_names_of_a_scheme(name: str, known: str) -> None:
    assert scheme_name(name) == known


@pytest.mark.parametrize(
    ("scheme", "tag", "error", "told"),
    [
        ("BIOLU", "O", UnknownName, "no tagging scheme called 'biolu'. Did you mean 'bioul'"),
        ("io", "B-A", ValueError, "'B-A' is not a tag of IO"),
        ("bio", "L-A", ValueError, "'L-A' is not a tag of BIO"),
        ("bio", "E-A", ValueError, "'E-A' is not a tag of BIO"),
        ("bioul", "X-A", ValueError, "'X-A' is not a tag of BIOUL"),
    ],
)
def test_an_unknown_scheme_and_a_tag_of_another_one_are_refused(
    scheme: str, tag: str, error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        decode_spans(["O", tag], scheme)


@pytest.mark.parametrize(
    "found", [[Span(0, 2, "A"), Span(1, 3, "A")], [Span(2, 4, "A")], [Span(1, 1, "A")]]
)
def test_entities_that_have_no_place_are_refused(found: list[Span]) -> None:
    with pytest.raises(ValueError, match="overlaps another one or exceeds"):
        tags(found, 3, "bio")
