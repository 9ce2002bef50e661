"""Words, spans and casing of every family of tokenizers. Oracle: what the tokenizer itself decodes and normalises."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from transformers import AutoTokenizer

from blurb.checkpoints import Checkpoint
from blurb.inputs.texts import encode_relations
from blurb.inputs.tokenizer import Tokenizer
from blurb.inputs.words import encode_words, word_pieces
from tests import checkpoints
from tests.conftest import Builder

LOWERED = ("bert_uncased", "albert", "electra", "distilbert", "mpnet", "nomic_bert", "funnel")
BYTE_LEVEL = ("roberta", "modernbert", "deberta_v1", "longformer", "eurobert")


@pytest.fixture(scope="module", params=[*checkpoints.KINDS, *checkpoints.FAMILIES])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _tokenizer(checkpoint: Builder, kind: str) -> Tokenizer:
    return Checkpoint(checkpoint(kind)).tokenizer


def _decoded(tokenizer: Tokenizer, ids: Sequence[int]) -> str:
    return str(tokenizer.inner.decode(list(ids))).replace(" ", "")


def _normalised(tokenizer: Tokenizer, text: str) -> str:
    """A text as the tokenizer says that it reads it."""
    normalizer = tokenizer.inner.backend_tokenizer.normalizer if tokenizer.inner.is_fast else None
    return (
        (normalizer.normalize_str(text) if normalizer else text).replace("▁", "").replace(" ", "")
    )


def test_the_pieces_of_a_word_decode_to_the_word(checkpoint: Builder, kind: str) -> None:
    tokenizer = _tokenizer(checkpoint, kind)
    sentences = [text.split(" ") for text in checkpoints.texts(seed=7, size=30)]
    features = encode_words(sentences, tokenizer, 512)
    known = 0
    for row, words in enumerate(sentences):
        spans = zip(words, features.word_starts[row], features.word_ends[row], strict=True)
        for word, start, end in spans:
            ids = features.ids[row][start:end].tolist()
            if tokenizer.inner.unk_token_id not in ids:
                known += 1
                assert _decoded(tokenizer, ids) == _normalised(tokenizer, word)
    assert known > 0.9 * sum(map(len, sentences))


def test_the_span_of_an_entity_decodes_to_the_entity(checkpoint: Builder, kind: str) -> None:
    tokenizer = _tokenizer(checkpoint, kind)
    text = "Kalo @DRUG$ mi (trapil) nexvor gra"
    entities = ("@DRUG$", "trapil")  # a marker, and a word between brackets
    head, tail = ((text.index(entity), text.index(entity) + len(entity)) for entity in entities)
    features = encode_relations([text], [head], [tail], tokenizer, 64)
    for entity, (start, end) in zip(entities, features.entities[0], strict=True):
        found = _decoded(tokenizer, features.ids[0][start:end].tolist())
        # A tokenizer without offsets knows the word between blanks only.
        assert found == _normalised(tokenizer, entity) if kind != "bertweet" else entity in found


def test_capitals_are_kept_or_lowered_as_the_family_does(checkpoint: Builder, kind: str) -> None:
    tokenizer = _tokenizer(checkpoint, kind)
    upper, lower = (tokenizer.subtokens([text])[0].ids for text in ("mi KALO", "mi kalo"))
    assert (upper == lower) == tokenizer.lower_cases == (kind in LOWERED)


@pytest.mark.parametrize("byte_level", BYTE_LEVEL)
def test_a_word_of_byte_level_bpe_keeps_the_blank_before_it(
    checkpoint: Builder, byte_level: str
) -> None:
    """Words given one by one (`is_split_into_words`) are glued together: nothing adds the blanks."""
    tokenizer = _tokenizer(checkpoint, byte_level)
    words = ["kalo", "kalo", "mi"]
    glued = tokenizer.inner.backend_tokenizer.encode(
        words, is_pretokenized=True, add_special_tokens=False
    )
    assert tokenizer.inner.decode(glued.ids) == "kalokalomi"
    features = encode_words([words], tokenizer, 64)
    assert tokenizer.inner.decode(features.ids[0], skip_special_tokens=True) == "kalo kalo mi"


@pytest.mark.parametrize("byte_level", BYTE_LEVEL[:1] + BYTE_LEVEL[2:4])
def test_with_a_blank_in_front_the_first_word_is_like_the_others(
    checkpoint: Builder, byte_level: str
) -> None:
    words = ["kalo", "kalo"]
    for add, alike in ((False, False), (True, True)):
        inner = AutoTokenizer.from_pretrained(checkpoint(byte_level), add_prefix_space=add)
        subtokens = Tokenizer(inner).subtokens([" ".join(words)])[0]
        first, second = (subtokens.ids[start:end] for start, end in word_pieces(words, subtokens))
        assert (first == second) is alike
