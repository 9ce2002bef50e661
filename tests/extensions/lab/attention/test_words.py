"""Words of a text, and the joining of sub-tokens against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from blurb.extensions.lab.attention.weights import (
    boundaries,
    find_entity,
    join,
    spans,
    united,
    words_of_pieces,
)
from blurb.inputs.tokenizer import Subtokens
from blurb.messages.errors import SettingsError

TEXT = "Low-dose aspirin (75 mg) lowered the patient's fever."


def test_words() -> None:
    words = [TEXT[start:end] for start, end in spans(TEXT)]
    assert words == [
        "Low-dose",
        "aspirin",
        "(",
        "75",
        "mg",
        ")",
        "lowered",
        "the",
        "patient's",
        "fever",
        ".",
    ]


@given(st.text())
def test_every_sign_that_is_no_blank_is_in_a_word(text: str) -> None:
    if not text.strip():
        return
    covered = {at for start, end in spans(text) for at in range(start, end)}
    assert covered == {at for at, sign in enumerate(text) if not sign.isspace()}


def test_a_piece_belongs_to_the_word_in_which_it_begins() -> None:
    words = [(0, 4), (5, 9), (9, 10)]
    pieces = Subtokens(
        [1, 2, 3, 4, 5], [0, 2, 5, 5, 9], [2, 4, 5, 9, 10]
    )  # the third has blanks alone
    assert words_of_pieces(words, pieces) == [0, 0, 1, 1, 2]
    assert boundaries(words, pieces) == {0, 1, 2}


def test_what_a_tokenizer_drops_at_the_beginning_is_of_the_word_behind_it() -> None:
    """A byte order mark or a combining mark has no sub-token: dividing by their number made every weight no number."""
    words = [(0, 1), (1, 5), (6, 10)]
    pieces = Subtokens([7, 8], [1, 6], [5, 10])
    assert boundaries(words, pieces) == {0, 2}
    assert united(words, {0, 2}) == [(0, 5), (6, 10)]
    assert boundaries(words, Subtokens([8], [6], [10])) == {0}
    with pytest.raises(SettingsError, match="drops the whole text"):
        boundaries(words, Subtokens([], [], []))


def test_words_that_a_tokenizer_cannot_keep_apart_are_one() -> None:
    words = [(0, 4), (5, 9), (9, 10), (11, 12)]
    over = Subtokens([1, 2], [0, 5], [4, 12])  # reaches over three words
    dropped = Subtokens([1, 2, 3], [0, 9, 11], [4, 10, 12])  # knows nothing of the second
    assert united(words, boundaries(words, over)) == [(0, 4), (5, 12)]
    assert united(words, boundaries(words, dropped)) == [(0, 9), (9, 10), (11, 12)]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_joining_is_the_sum_over_keys_and_the_mean_over_queries(
    sizes: list[int], seed: int
) -> None:
    """Oracle: loops over all pairs of words and their sub-tokens."""
    columns = [word for word, size in enumerate(sizes) for _ in range(size)]
    weights = (
        np.random.default_rng(seed)
        .dirichlet(np.ones(len(columns)), (2, 3, len(columns)))
        .astype(np.float32)
    )
    joined = join(weights, columns, len(sizes))
    for layer in range(2):
        for head in range(3):
            for row in range(len(sizes)):
                queries = [at for at, word in enumerate(columns) if word == row]
                for column in range(len(sizes)):
                    keys = [at for at, word in enumerate(columns) if word == column]
                    sums = [
                        sum(weights[layer, head, query, key] for key in keys) for query in queries
                    ]
                    assert joined[layer, head, row, column] == pytest.approx(
                        sum(sums) / len(sums), abs=1e-6
                    )
    np.testing.assert_allclose(joined.sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("entity", "expected"),
    [
        ("aspirin", (1, 2)),
        ("ASPIRIN", (1, 2)),
        ("75 mg", (3, 5)),
        ("dose aspirin", (0, 2)),
        (" fever ", (9, 10)),
    ],
)
def test_an_entity_is_the_words_that_it_touches(entity: str, expected: tuple[int, int]) -> None:
    assert find_entity(TEXT, spans(TEXT), entity) == expected


def test_an_entity_is_rather_a_word_than_a_part_of_one() -> None:
    text = "The lesion needs an ion."
    assert find_entity(text, spans(text), "ion") == (4, 5)


@pytest.mark.parametrize("entity", ["ibuprofen", "", "  "])
def test_an_entity_that_is_not_there_is_refused(entity: str) -> None:
    with pytest.raises(SettingsError, match=r"is not in the text; write it as the text does\.$"):
        find_entity(TEXT, spans(TEXT), entity)
