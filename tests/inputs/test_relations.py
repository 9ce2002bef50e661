"""Dummies and markers: overlapping, touching, nested and equal spans; what is outside the markers stays."""

import re

import pytest
from hypothesis import given, strategies as st

from blurb.inputs.relations import STRATEGIES, dummify, insert, mark, special_tokens
from blurb.messages.errors import SettingsError

E = ("E1", "E2")


def row(text: str, head: tuple[int, int], tail: tuple[int, int]) -> dict[str, object]:
    return {
        "text": text,
        "head": {"start": head[0], "end": head[1], "type": "CHEMICAL"},
        "tail": {"start": tail[0], "end": tail[1], "type": "GENE"},
    }


@pytest.mark.parametrize(
    ("head", "tail", "dummies", "marked"),
    [
        ((0, 2), (4, 6), "@A$cd@B$gh", "[E1] ab [/E1]cd[E2] ef [/E2]gh"),
        ((0, 2), (2, 4), "@A$@B$efgh", "[E1] ab [/E1][E2] cd [/E2]efgh"),  # touching
        ((0, 6), (2, 4), "@A-B$gh", "[E1] ab[E2] cd [/E2]ef [/E1]gh"),  # nested
        (
            (2, 4),
            (0, 6),
            "@A-B$gh",
            "[E2] ab[E1] cd [/E1]ef [/E2]gh",
        ),  # nested, the gene of ChemProt outside
        ((0, 4), (0, 4), "@A-B$efgh", "[E1] [E2] abcd [/E2] [/E1]efgh"),  # the same words
        ((0, 6), (4, 6), "@A-B$gh", "[E1] abcd[E2] ef [/E2] [/E1]gh"),
        ((0, 4), (2, 6), "@A-B$gh", "[E1] ab[E2] cd [/E1]ef [/E2]gh"),  # crossing
    ],
)
def test_spans_of_all_kinds(
    head: tuple[int, int], tail: tuple[int, int], dummies: str, marked: str
) -> None:
    assert dummify("abcdefgh", head, tail, ("A", "B")).text == dummies
    assert insert("abcdefgh", head, tail, E).text == marked


spans = st.tuples(st.integers(0, 12), st.integers(1, 6)).map(
    lambda pair: (pair[0], min(pair[0] + pair[1], 13))
)


@given(spans, spans)
def test_markers_change_nothing_else_and_their_spans_are_theirs(
    head: tuple[int, int], tail: tuple[int, int]
) -> None:
    text = "abcdefghijklm"
    marked = insert(text, head, tail, E)
    assert re.sub(r"\[/?E[12]\]| ", "", marked.text) == text
    for name, span, (start, end) in zip(E, (head, tail), (marked.head, marked.tail), strict=True):
        inside = marked.text[start:end]
        assert inside.startswith(f"[{name}]")
        assert inside.endswith(f"[/{name}]")
        assert re.sub(r"\[/?E[12]\]| ", "", inside) == text[slice(*span)]


@given(spans, spans)
def test_dummies_keep_what_is_around_them(one: tuple[int, int], other: tuple[int, int]) -> None:
    text = "abcdefghijklm"
    head, tail = sorted((one, other), key=lambda span: span[0])
    result = dummify(text, head, tail, ("A", "B"))
    assert result.text.startswith(text[: head[0]])
    assert result.text.endswith(text[max(head[1], tail[1]) :])
    if head[1] > tail[0]:
        assert result.head == result.tail
    else:
        assert [result.text[slice(*span)] for span in (result.head, result.tail)] == ["@A$", "@B$"]


def test_of_a_dummified_release_markers_go_around_the_dummies_and_there_is_no_original() -> None:
    dummified = row("@GENE$ in @DISEASE$.", (0, 6), (10, 19))
    assert mark(dummified, "markers").text == "[E1] @GENE$ [/E1] in [E2] @DISEASE$ [/E2]."
    assert mark(dummified, "dummify").text == "@GENE$ in @DISEASE$."
    with pytest.raises(SettingsError, match="dummies instead of the entity names"):
        mark(dummified, "original")


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("markers", ["[E1]", "[/E1]", "[E2]", "[/E2]"]),
        ("typed-markers", ["[CHEMICAL]", "[/CHEMICAL]", "[GENE]", "[/GENE]"]),
        ("dummy-tokens", ["@CHEM-GENE$", "@CHEMICAL$", "@GENE$"]),
        ("dummify", []),
        ("original", []),
    ],
)
def test_special_tokens(strategy: str, expected: list[str]) -> None:
    rows = [row("aspirin inhibits COX-1", (0, 7), (17, 22)), row("insulin", (0, 7), (0, 7))]
    assert special_tokens(rows, strategy) == expected


def test_every_strategy_is_known() -> None:
    plain = row("aspirin inhibits COX-1", (0, 7), (17, 22))
    # Two differ in their tokens
    assert len({mark(plain, strategy).text for strategy in STRATEGIES}) == 4
    with pytest.raises(SettingsError, match="original, markers"):
        mark(plain, "marker")
