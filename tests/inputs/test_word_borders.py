"""Blanks between words, before all of them, or none. Oracle: the tokenizer's own encoding of words and of texts."""

from __future__ import annotations

import numpy as np
import pytest

from blurb.checkpoints import Checkpoint
from blurb.inputs.words import BORDERS, encode_words
from tests import checkpoints
from tests.conftest import Builder

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
        assert features.word_starts is not None
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
    assert ours.word_ids is not None
    assert usual.word_ids is not None
    assert [row.tolist() for row in ours.word_ids] == [row.tolist() for row in usual.word_ids]


def test_for_wordpiece_borders_change_nothing(checkpoint: Builder) -> None:
    tokenizer = Checkpoint(checkpoint("bert_uncased")).tokenizer
    first, *others = (encode_words(SENTENCES, tokenizer, 4_000, borders) for borders in BORDERS)
    for other in others:
        assert np.array_equal(first.ids.values, other.ids.values)
