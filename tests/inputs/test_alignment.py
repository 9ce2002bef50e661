"""Words and sub-tokens. Two oracles without code of blurb: each word tokenised by itself, and sets of characters."""

from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from blurb.checkpoints import Checkpoint
from blurb.inputs.tokenizer import Subtokens, Tokenizer
from blurb.inputs.words import encode_words, word_pieces
from tests import checkpoints
from tests.conftest import Builder

FAST = [kind for kind in (*checkpoints.KINDS, *checkpoints.FAMILIES) if kind != "bertweet"]
WORDS = [*checkpoints.words(), *checkpoints.odd_words()]


@pytest.fixture(scope="module", params=[*checkpoints.KINDS, *checkpoints.FAMILIES])
def tokenizer(request: pytest.FixtureRequest, checkpoint: Builder) -> Tokenizer:
    return Checkpoint(checkpoint(request.param)).tokenizer


def _blank(inner: Any, index: int) -> bool:
    """Whether a piece stands for a blank alone."""
    return not inner.convert_ids_to_tokens(index).strip("▁Ġ")


def _word_by_word(inner: Any, words: list[str]) -> list[int]:
    """Oracle: the pieces of a sentence are those of its words one after the other; pieces of blanks stand for none."""
    found, place = [], 0
    for number, word in enumerate(words):
        text = word if number == 0 or not _has_byte_level(inner) else f" {word}"
        ids = inner(text, add_special_tokens=False)["input_ids"]
        real = [i for i, index in enumerate(ids) if not _blank(inner, index)]
        found.append(place + real[0] if real else -1)
        place += len(ids)
    return found


def _has_byte_level(inner: Any) -> bool:
    """Byte-level BPE alone reads a word otherwise after a blank; the others put the blank there or have none."""
    return bool(inner.is_fast and "ByteLevel" in str(inner.backend_tokenizer.pre_tokenizer))


def _by_characters(inner: Any, words: list[str]) -> list[int]:
    """Oracle: the first piece that covers a character of the word which is not a blank, by the raw offsets."""
    text = " ".join(words)
    encoded = inner(text, add_special_tokens=False, return_offsets_mapping=True)
    covered = [
        {place for place in range(*span) if not text[place].isspace()}
        if not _blank(inner, index)
        else set()
        for index, span in zip(encoded["input_ids"], encoded["offset_mapping"], strict=True)
    ]
    ends = list(accumulate(len(word) + 1 for word in words))
    return [
        next(
            (
                i
                for i, characters in enumerate(covered)
                if characters & set(range(end - len(word) - 1, end - 1))
            ),
            -1,
        )
        for word, end in zip(words, ends, strict=True)
    ]


def _first(tokenizer: Tokenizer, words: list[str]) -> list[int]:
    return [first for first, _ in word_pieces(words, tokenizer.subtokens([" ".join(words)])[0])]


def test_every_word_gets_the_piece_where_it_begins(tokenizer: Tokenizer) -> None:
    for sentence in checkpoints.texts(seed=7, size=40):
        words = sentence.split(" ")
        found = _first(tokenizer, words)
        assert found == _word_by_word(tokenizer.inner, words)
        assert -1 not in found


@settings(max_examples=60)
@given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=8))
def test_odd_words_get_the_piece_where_they_begin(tokenizer: Tokenizer, words: list[str]) -> None:
    assert _first(tokenizer, words) == _word_by_word(tokenizer.inner, words)


@pytest.mark.parametrize("kind", FAST)
@settings(max_examples=60)
@given(
    words=st.lists(
        st.text(
            st.characters(
                exclude_categories=["Cs", "Zs", "Zl", "Zp", "Cc"], exclude_characters="▁Ġ"
            ),
            min_size=1,
            max_size=6,
        ),
        max_size=6,
    )
)
def test_any_word_agrees_with_the_offsets(checkpoint: Builder, kind: str, words: list[str]) -> None:
    tokenizer = Checkpoint(checkpoint(kind)).tokenizer
    assert _first(tokenizer, words) == _by_characters(tokenizer.inner, words)


@pytest.mark.parametrize("word", ["\x07", "\u0301", "\u200b", "\ufffd"])
def test_a_word_that_bert_drops_has_no_piece_and_the_others_keep_theirs(
    checkpoint: Builder, word: str
) -> None:
    tokenizer = Checkpoint(checkpoint("bert_uncased")).tokenizer
    assert tokenizer.subtokens([word])[0].ids == []
    assert _first(tokenizer, ["kalo", word, "mi"])[1] == -1
    subtokens = tokenizer.subtokens([f"kalo {word} mi"])[0]
    assert [subtokens.starts[i] for i in _first(tokenizer, ["kalo", word, "mi"]) if i >= 0] == [
        0,
        7,
    ]


@pytest.mark.parametrize(
    ("words", "pieces", "expected"),
    [
        # A piece that runs over two words stands for both
        (["ab", "cd", "e"], Subtokens([1, 2], [0, 4], [4, 7]), [(0, 1), (0, 2), (1, 2)]),
        # Pieces of blanks alone stand for no word
        (["a", "b"], Subtokens([1, 2, 3], [0, 2, 2], [1, 2, 3]), [(0, 1), (2, 3)]),
    ],
)
def test_pieces_over_two_words_and_pieces_of_blanks(
    words: list[str], pieces: Subtokens, expected: list[tuple[int, int]]
) -> None:
    assert word_pieces(words, pieces) == expected


@settings(max_examples=60)
@given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=8))
def test_the_pieces_of_a_word_are_all_that_have_characters_of_it(
    tokenizer: Tokenizer, words: list[str]
) -> None:
    subtokens = tokenizer.subtokens([" ".join(words)])[0]
    place = 0
    for word, (first, after) in zip(words, word_pieces(words, subtokens), strict=True):
        mine = [
            index
            for index, (start, end) in enumerate(zip(subtokens.starts, subtokens.ends, strict=True))
            if start < end and start < place + len(word) and end > place
        ]
        assert [
            index
            for index in range(first, after)
            if subtokens.starts[index] < subtokens.ends[index]
        ] == mine
        place += len(word) + 1


def test_several_pieces_of_one_character_give_the_first(checkpoint: Builder) -> None:
    tokenizer = Checkpoint(checkpoint("roberta")).tokenizer
    assert tokenizer.subtokens(["😀 x"])[0].starts[:4] == [0, 0, 0, 0]
    assert _first(tokenizer, ["😀", "x"])[0] == 0


def test_pieces_are_in_the_order_of_the_text(tokenizer: Tokenizer) -> None:
    texts = [" ".join(checkpoints.odd_words()), *checkpoints.texts(seed=8, size=5), "", " ", "a"]
    for text, subtokens in zip(texts, tokenizer.subtokens(texts), strict=True):
        assert len(subtokens.ids) == len(subtokens.starts) == len(subtokens.ends)
        assert subtokens.starts == sorted(subtokens.starts)
        for start, end in zip(subtokens.starts, subtokens.ends, strict=True):
            assert start <= end
            assert start == end or not text[start].isspace()


def test_no_texts_have_no_pieces(tokenizer: Tokenizer) -> None:
    assert tokenizer.subtokens([]) == []


def test_encoded_positions_point_at_the_first_pieces(tokenizer: Tokenizer) -> None:
    sentences = [sentence.split(" ") for sentence in checkpoints.texts(seed=3, size=30)] + [
        list(checkpoints.odd_words())
    ]
    features = encode_words(sentences, tokenizer, 4_000)
    assert list(features.example_index) == list(range(len(sentences)))
    for row, words in enumerate(sentences):
        plain = tokenizer.inner(" ".join(words), add_special_tokens=False)["input_ids"]
        first = _word_by_word(tokenizer.inner, words)
        assert list(features.word_ids[row]) == [i for i, piece in enumerate(first) if piece >= 0]
        at = [features.ids[row][position] for position in features.word_starts[row]]
        assert at == [plain[piece] for piece in first if piece >= 0]


@pytest.mark.parametrize("length", [3, 4, 8, 16, 33])
def test_windows_keep_every_word_once_with_its_own_piece(tokenizer: Tokenizer, length: int) -> None:
    sentences = [sentence.split(" ") for sentence in checkpoints.texts(seed=5, size=10)]
    whole = encode_words(sentences, tokenizer, 4_000)
    cut = encode_words(sentences, tokenizer, length)
    assert int(cut.ids.lengths.max()) <= length
    for unit in range(len(sentences)):
        rows = [row for row in range(len(cut)) if cut.example_index[row] == unit]
        words = [int(word) for row in rows for word in cut.word_ids[row]]
        assert words == list(whole.word_ids[unit])
        assert [
            int(cut.ids[row][position]) for row in rows for position in cut.word_starts[row]
        ] == [int(whole.ids[unit][position]) for position in whole.word_starts[unit]]
        sizes = [size for row in rows for size in cut.word_ends[row] - cut.word_starts[row]]
        for size, most in zip(sizes, whole.word_ends[unit] - whole.word_starts[unit], strict=True):
            assert 1 <= size <= most  # a long word may run out of its window
    assert cut.windowed == sum(int(size) > length for size in whole.ids.lengths)
    assert cut.truncated == 0
