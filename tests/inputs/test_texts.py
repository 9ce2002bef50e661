"""Single texts, pairs and relations: what is cut, and what never is."""

import random

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from blurb.checkpoints import Checkpoint
from blurb.inputs.features import Features
from blurb.inputs.texts import around, encode_pairs, encode_relations, encode_texts
from blurb.inputs.tokenizer import SpecialTokens, Subtokens, Tokenizer
from blurb.inputs.words import BORDERS, encode_words
from tests import checkpoints
from tests.conftest import Builder


@pytest.fixture(scope="module", params=("bert_uncased", "roberta", "t5", "bertweet"))
def tokenizer(request: pytest.FixtureRequest, checkpoint: Builder) -> Tokenizer:
    return Checkpoint(checkpoint(request.param)).tokenizer


def _rows(features: Features) -> list[list[int]]:
    return [features.ids[row].tolist() for row in range(len(features))]


def _types(features: Features) -> list[list[int]] | None:
    return (
        None
        if features.token_type_ids is None
        else [features.token_type_ids[row].tolist() for row in range(len(features))]
    )


def test_texts_are_cut_as_the_tokenizer_cuts_them(tokenizer: Tokenizer) -> None:
    texts = checkpoints.texts(seed=2, size=30)
    features = encode_texts(texts, tokenizer, 24)
    theirs = tokenizer.inner(texts, truncation=True, max_length=24)
    assert _rows(features) == theirs["input_ids"]
    assert _types(features) == theirs.get("token_type_ids")
    full = tokenizer.inner(texts)["input_ids"]
    assert features.truncated == sum(len(ids) > 24 for ids in full) > 0


def test_pairs_keep_the_question_and_cut_the_context_as_the_tokenizer_does(
    tokenizer: Tokenizer,
) -> None:
    questions = [" ".join(text.split(" ")[:3]) for text in checkpoints.texts(seed=4, size=30)]
    contexts = [" ".join([text] * 4) for text in checkpoints.texts(seed=5, size=30)]
    features = encode_pairs(questions, contexts, tokenizer, 64, shorten="second")
    theirs = tokenizer.inner(questions, contexts, truncation="only_second", max_length=64)
    assert _rows(features) == theirs["input_ids"]
    assert _types(features) == theirs.get("token_type_ids")
    assert (
        features.truncated
        == sum(len(ids) > 64 for ids in tokenizer.inner(questions, contexts)["input_ids"])
        > 0
    )


def test_the_texts_of_a_pair_are_where_it_says(tokenizer: Tokenizer) -> None:
    first, second = checkpoints.texts(seed=4, size=20), checkpoints.texts(seed=5, size=20)
    features = encode_pairs(first, second, tokenizer, 24, shorten="longer", places=True)
    assert features.truncated > 0
    whole = [[piece.ids for piece in tokenizer.subtokens(texts)] for texts in (first, second)]
    for row, spans in enumerate(features.entities.tolist()):
        for (start, end), ids in zip(spans, (side[row] for side in whole), strict=True):
            assert features.ids[row][start:end].tolist() == ids[: end - start]
    special_tokens = tokenizer.special_tokens
    lengths = (features.entities[:, :, 1] - features.entities[:, :, 0]).sum(1) + (
        len(special_tokens.prefix) + len(special_tokens.middle) + len(special_tokens.pair_suffix)
    )
    assert lengths.tolist() == features.ids.lengths.tolist()
    assert encode_pairs(first, second, tokenizer, 24, shorten="longer").entities is None


def test_a_question_longer_than_the_room_is_all_there_is(tokenizer: Tokenizer) -> None:
    special_tokens, question = tokenizer.special_tokens, "kalo mi tra nex " * 10
    features = encode_pairs([question], ["vor"], tokenizer, 16, shorten="second")
    room = (
        16
        - len(special_tokens.prefix)
        - len(special_tokens.middle)
        - len(special_tokens.pair_suffix)
    )
    assert _rows(features) == [
        special_tokens.pair(tokenizer.subtokens([question])[0].ids[:room], [])
    ]
    assert features.truncated == 1


class Letters(Tokenizer):
    """A tokenizer of one piece a letter, for properties of lengths; `[` and `]` frame a text, `|` is between two."""

    def __init__(self) -> None:
        super().__init__(None)

    def subtokens(self, texts):  # type: ignore[no-untyped-def]

        return [
            Subtokens([ord(c) for c in text], list(range(len(text))), list(range(1, len(text) + 1)))
            for text in texts
        ]

    @property
    def special_tokens(self):  # type: ignore[no-untyped-def]

        return SpecialTokens((ord("["),), (ord("]"),), (ord("|"),), (ord("]"),), None, (), 0)


def _text(features: Features, row: int = 0) -> str:
    return "".join(map(chr, features.ids[row]))


@settings(max_examples=200)
@given(first=st.integers(0, 60), second=st.integers(0, 60), length=st.integers(4, 60))
def test_the_longer_of_two_sentences_is_cut(first: int, second: int, length: int) -> None:
    text = _text(encode_pairs(["a" * first], ["b" * second], Letters(), length, shorten="longer"))
    a, b = text.count("a"), text.count("b")
    assert text == f"[{'a' * a}|{'b' * b}]"
    room = length - 3
    assert a + b == min(first + second, room)
    # Taking one piece at a time from the longer never leaves it more than one ahead of the other, once it was cut.
    if first + second > room:
        assert a == first or a >= b - 1
        assert b == second or b >= a - 1
        assert a == first or b == second or abs(a - b) <= 1


def test_a_pair_that_fits_is_whole() -> None:
    features = encode_pairs(["aa"], ["bbb"], Letters(), 8, shorten="longer")
    assert _text(features) == "[aa|bbb]"
    assert features.truncated == 0


@settings(max_examples=400)
@given(data=st.data(), size=st.integers(1, 120), length=st.integers(6, 60))
def test_both_entities_survive_wherever_they_are(
    data: st.DataObject, size: int, length: int
) -> None:
    """Disjoint, touching, nested, equal: something of each entity stays, all of both if they fit together."""
    spans = []
    for _ in range(2):
        start = data.draw(st.integers(0, size - 1))
        spans.append((start, data.draw(st.integers(start + 1, size))))
    letters = [chr(0x4E00 + i) for i in range(size)]
    text = "".join(letters)
    features = encode_relations([text], [spans[0]], [spans[1]], Letters(), length)
    kept = _text(features)[1:-1]
    assert len(kept) == min(size, length - 2)
    assert list(kept) == sorted(set(kept))  # in order, nothing twice
    for start, end in spans:
        assert set(kept) & set(letters[start:end])
    low, high = min(spans)[0], max(end for _, end in spans)
    if high - low <= length - 2:
        assert text[low:high] in kept
    assert (features.windowed, features.truncated) == (size > length - 2, 0)


@pytest.mark.parametrize("kind", ["bert_uncased", "roberta", "modernbert", "deberta"])
def test_pairs_are_cut_as_a_fast_tokenizer_cuts_the_longest_first(
    checkpoint: Builder, kind: str
) -> None:
    """Oracle: the truncation of `tokenizers`, at every length that leaves room for a sub-token."""
    tokenizer = Checkpoint(checkpoint(kind)).tokenizer
    special_tokens, rng = tokenizer.special_tokens, random.Random(5)
    special = (
        len(special_tokens.prefix) + len(special_tokens.middle) + len(special_tokens.pair_suffix)
    )
    texts, cut = checkpoints.texts(seed=4, size=60), 0
    for _ in range(400):
        a, b = rng.choice(texts), rng.choice(texts)
        if rng.random() < 0.2:
            b = a  # equally long
        whole = len(tokenizer.inner(a, b)["input_ids"])
        length = rng.randint(special + 1, whole + 1)
        expected = tokenizer.inner(a, b, truncation="longest_first", max_length=length)
        found = encode_pairs([a], [b], tokenizer, length, "longer")
        assert found.ids[0].tolist() == expected["input_ids"], (len(a), len(b), length)
        if found.token_type_ids is not None:
            assert found.token_type_ids[0].tolist() == expected["token_type_ids"]
        assert found.truncated == (length < whole)
        cut += found.truncated
    assert cut > 300


@settings(max_examples=200)
@given(
    first=st.integers(0, 90),
    gap=st.integers(0, 90),
    rest=st.integers(0, 90),
    length=st.integers(16, 60),
)
def test_dummies_stay_whole_however_far_apart_they_are(
    first: int, gap: int, rest: int, length: int
) -> None:
    text = f"{'x' * first}@A$@{'y' * gap}@B$@{'z' * rest}"
    head, tail = (first, first + 4), (first + 4 + gap, first + 8 + gap)
    kept = _text(encode_relations([text], [head], [tail], Letters(), length))
    assert "@A$@" in kept
    assert "@B$@" in kept
    assert len(kept) == min(len(text) + 2, length)


@pytest.mark.parametrize(
    ("entities", "kept"),
    [
        ([(50, 52), (58, 60)], [range(45, 65)]),
        ([(0, 2), (8, 10)], [range(20)]),
        ([(90, 92), (98, 100)], [range(80, 100)]),
        ([], [range(20)]),
        ([(20, 22), (80, 82)], [range(16, 26), range(76, 86)]),  # far apart: a half each
    ],
)
def test_the_window_is_centred_on_the_pair(
    entities: list[tuple[int, int]], kept: list[range]
) -> None:
    assert around(entities, 100, 20) == kept


def test_an_entity_that_the_tokenizer_drops_does_not_stop_anything(checkpoint: Builder) -> None:
    tokenizer = Checkpoint(checkpoint("bert_uncased")).tokenizer
    text = "kalo " * 40 + "\u200b" + " @DRUG$"
    tail = text.index("@DRUG$")
    features = encode_relations([text], [(tail - 2, tail - 1)], [(tail, tail + 6)], tokenizer, 16)
    assert tokenizer.inner.decode(features.ids[0]).replace(" ", "").endswith("@drug$[SEP]")


def test_real_tokenizers_keep_the_dummies(tokenizer: Tokenizer) -> None:
    length = 40
    for text in checkpoints.texts(seed=9, size=20):
        long = f"{text} @DRUG$ {text} {text} @GENE$ {text}"
        spans = [(long.index(dummy), long.index(dummy) + 6) for dummy in ("@DRUG$", "@GENE$")]
        features = encode_relations([long], [spans[0]], [spans[1]], tokenizer, length)
        assert len(features.ids[0]) <= length
        for dummy in ("@DRUG$", "@GENE$"):
            ids = tokenizer.subtokens([f"kalo {dummy}"])[0].ids[
                len(tokenizer.subtokens(["kalo"])[0].ids) :
            ]
            row = features.ids[0].tolist()
            assert any(row[i : i + len(ids)] == ids for i in range(len(row)))


def test_entities_may_come_in_either_order() -> None:
    one = encode_relations(["abcdefghij"], [(0, 1)], [(8, 9)], Letters(), 6)
    other = encode_relations(["abcdefghij"], [(8, 9)], [(0, 1)], Letters(), 6)
    assert _text(one) == _text(other)


# Blanks between words, before all of them, or none. Oracle: the tokenizer's own encoding of words and of texts.


SENTENCES = [text.split(" ") for text in checkpoints.texts(seed=5, size=8)]


@pytest.mark.parametrize("kind", ["qwen3", "roberta", "bert_uncased"])
def test_words_without_borders_are_cut_one_by_one(checkpoint: Builder, kind: str) -> None:
    tokenizer = Checkpoint(checkpoint(kind)).tokenizer
    features = encode_words(SENTENCES, tokenizer, 4_000, "none")
    special = tokenizer.special_tokens
    for row, sentence in enumerate(SENTENCES):
        ids = features.ids[row][len(special.prefix) : len(features.ids[row]) - len(special.suffix)]
        alone = [one.ids for one in tokenizer.subtokens(sentence)]
        assert ids.tolist() == [piece for word in alone for piece in word]
        firsts = np.cumsum([0, *map(len, alone)])[:-1] + len(special.prefix)
        assert features.word_starts[row].tolist() == firsts.tolist()


def test_none_is_what_transformers_makes_of_words_of_a_byte_level_tokenizer(
    checkpoint: Builder,
) -> None:
    tokenizer = Checkpoint(checkpoint("qwen3")).tokenizer
    theirs = tokenizer.inner(SENTENCES, is_split_into_words=True)["input_ids"]
    ours = encode_words(SENTENCES, tokenizer, 4_000, "none")
    assert [ours.ids[row].tolist() for row in range(len(ours))] == theirs


def test_a_prefix_is_a_blank_before_the_text(checkpoint: Builder) -> None:
    tokenizer = Checkpoint(checkpoint("qwen3")).tokenizer
    theirs = tokenizer.inner([" " + " ".join(words) for words in SENTENCES])["input_ids"]
    ours, usual = (
        encode_words(SENTENCES, tokenizer, 4_000, borders) for borders in ("prefix", "blanks")
    )
    assert [ours.ids[row].tolist() for row in range(len(ours))] == theirs
    assert [row.tolist() for row in ours.word_ids] == [row.tolist() for row in usual.word_ids]


def test_for_wordpiece_borders_change_nothing(checkpoint: Builder) -> None:
    tokenizer = Checkpoint(checkpoint("bert_uncased")).tokenizer
    first, *others = (encode_words(SENTENCES, tokenizer, 4_000, borders) for borders in BORDERS)
    for other in others:
        assert np.array_equal(first.ids.values, other.ids.values)
