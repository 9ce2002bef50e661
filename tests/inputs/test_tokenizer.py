"""The frame of special tokens against what each tokenizer makes itself, and the hash."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from blurb.checkpoints import Checkpoint
from blurb.inputs.tokenizer import Tokenizer
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
            expected = tokenizer.inner(
                [first], [second]
            )  # as a batch: alone, an empty second text counts as none
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
    again(
        ["kalo", "kalo mi"], truncation=True, max_length=9, padding="max_length"
    )  # stored in tokenizer.json
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
