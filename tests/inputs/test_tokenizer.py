"""The frame of special tokens against what each tokenizer makes itself, and the hash."""

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

from blurb.checkpoints import Checkpoint
from blurb.inputs.texts import encode_relations
from blurb.inputs.tokenizer import Tokenizer
from blurb.inputs.words import encode_words, word_pieces
from blurb.messages.errors import ModelError
from tests import checkpoints
from tests.conftest import Builder

TEXTS = ("", "kalo", "tra nex @DRUG$ vorpil .", "naïve β 😀", " ".join(checkpoints.odd_words()))


SEGMENTS = ["input_ids", "token_type_ids", "attention_mask"]


@pytest.fixture(scope="module", params=[*checkpoints.KINDS, *checkpoints.FAMILIES, "segments"])
def tokenizer(request: pytest.FixtureRequest, checkpoint: Builder) -> Tokenizer:
    if request.param == "segments":
        return Tokenizer(checkpoints.xlnet_tokenizer(model_input_names=SEGMENTS))
    return Checkpoint(checkpoint(request.param)).tokenizer


def test_pieces_are_what_the_tokenizer_makes_without_special_tokens(tokenizer: Tokenizer) -> None:
    for text, subtokens in zip(TEXTS, tokenizer.subtokens(TEXTS), strict=True):
        assert subtokens.ids == tokenizer.inner(text, add_special_tokens=False)["input_ids"]


def test_the_frame_of_one_text_is_the_tokenizers_own(tokenizer: Tokenizer) -> None:
    for text, subtokens in zip(TEXTS, tokenizer.subtokens(TEXTS), strict=True):
        expected = tokenizer.inner(text)
        assert tokenizer.special_tokens.single(subtokens.ids) == expected["input_ids"]
        assert tokenizer.special_tokens.single_types(len(subtokens.ids)) == expected.get(
            "token_type_ids"
        )


def test_the_frame_of_a_pair_is_the_tokenizers_own(tokenizer: Tokenizer) -> None:
    subtokens = dict(zip(TEXTS, tokenizer.subtokens(TEXTS), strict=True))
    for first in TEXTS:
        for second in TEXTS:
            a, b = subtokens[first].ids, subtokens[second].ids
            # As a batch: alone, an empty second text counts as none
            expected = tokenizer.inner([first], [second])
            assert [tokenizer.special_tokens.pair(a, b)] == expected["input_ids"]
            assert [tokenizer.special_tokens.pair_types(len(a), len(b))] == expected.get(
                "token_type_ids", [None]
            )


@pytest.mark.parametrize(
    ("kind", "cls"),
    [
        ("bert_uncased", 0),
        ("bert_cased", 0),
        ("roberta", 0),
        ("modernbert", 0),
        ("deberta", 0),
        ("bertweet", 0),
        ("t5", None),
        ("eurobert", None),
        ("xlnet", -1),
    ],
)
def test_the_place_of_the_classification_token(
    checkpoint: Builder, kind: str, cls: int | None
) -> None:
    assert Checkpoint(checkpoint(kind)).tokenizer.special_tokens.cls == cls


def test_padding_is_the_tokenizers_own_or_zero(checkpoint: Builder) -> None:
    tokenizer = Checkpoint(checkpoint("roberta")).tokenizer
    assert tokenizer.pad_id == tokenizer.inner.pad_token_id == 1
    without = checkpoints.xlnet_tokenizer()
    without.pad_token = None
    assert Tokenizer(without).pad_id == 0


def test_a_tokenizer_that_changes_a_text_between_its_special_tokens_is_refused() -> None:
    class Shuffling:
        cls_token_id = None

        def __call__(self, *texts: str, **options: Any) -> dict[str, list[int]]:
            return {"input_ids": [7, 8]} if options else {"input_ids": [8, 7]}

    with pytest.raises(ModelError, match="changes a text when it adds special tokens"):
        _ = Tokenizer(Shuffling()).special_tokens


def test_tokenizers_of_different_kinds_have_different_hashes(checkpoint: Builder) -> None:
    assert len({Checkpoint(checkpoint(kind)).tokenizer.hash for kind in checkpoints.KINDS}) == len(
        checkpoints.KINDS
    )


@pytest.mark.parametrize("kind", [kind for kind in checkpoints.KINDS if kind != "bertweet"])
def test_the_hash_survives_saving_and_another_length_limit(
    checkpoint: Builder, kind: str, tmp_path: Path
) -> None:
    before = Checkpoint(checkpoint(kind)).tokenizer
    again = type(before.inner).from_pretrained(checkpoint(kind))
    again.model_max_length = 77
    # Stored in tokenizer.json
    again(["kalo", "kalo mi"], truncation=True, max_length=9, padding="max_length")
    again.save_pretrained(tmp_path)
    assert Checkpoint(tmp_path).tokenizer.hash == before.hash


def test_truncation_and_padding_that_a_file_asks_for_change_neither_hash_nor_pieces() -> None:
    inner = checkpoints.xlnet_tokenizer()
    plain, spoilt = Tokenizer(copy.deepcopy(inner)), Tokenizer(inner)
    spoilt.inner.backend_tokenizer.enable_truncation(4)
    spoilt.inner.backend_tokenizer.enable_padding(length=9)
    assert spoilt.hash == plain.hash
    assert spoilt.subtokens(TEXTS) == plain.subtokens(TEXTS)
    assert spoilt.special_tokens == plain.special_tokens


def _bertweet(folder: Path, source: Path, **changes: tuple[str, str]) -> str:
    folder.mkdir()
    for name in ("vocab.txt", "bpe.codes", "tokenizer_config.json", "config.json"):
        text = (source / name).read_text(encoding="utf-8")
        if name.partition(".")[0] in changes:
            old, new = changes[name.partition(".")[0]]
            assert old in text
            text = text.replace(old, new, 1)
        (folder / name).write_text(text, encoding="utf-8")
    return Checkpoint(folder).tokenizer.hash


def test_the_hash_of_a_slow_tokenizer_sees_merges_vocabulary_and_switches(
    checkpoint: Builder, tmp_path: Path
) -> None:
    source = checkpoint("bertweet")
    merges = (source / "bpe.codes").read_text(encoding="utf-8").split("\n", 1)
    hashes = [
        Checkpoint(source).tokenizer.hash,
        _bertweet(tmp_path / "same", source),
        _bertweet(tmp_path / "merges", source, bpe=(merges[0] + "\n", "")),
        _bertweet(tmp_path / "vocabulary", source, vocab=("a@@ 1\n", "")),
        _bertweet(
            tmp_path / "switch",
            source,
            tokenizer_config=('"tokenizer_class"', '"normalization": true, "tokenizer_class"'),
        ),
    ]
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 4


def test_a_cased_vocabulary_behind_a_lower_casing_tokenizer_is_noticed(checkpoint: Builder) -> None:
    for kind in checkpoints.KINDS:
        assert not Checkpoint(checkpoint(kind)).tokenizer.lowers_a_cased_vocabulary()
    cased = Checkpoint(checkpoint("bert_cased")).tokenizer.inner
    spoilt = type(cased)(vocab=cased.get_vocab(), do_lower_case=True)
    assert Tokenizer(spoilt).lowers_a_cased_vocabulary()


# Words, spans and casing of every family of tokenizers. Oracle: what the tokenizer itself decodes and normalises.


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
