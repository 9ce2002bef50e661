"""Vocabularies of each kind, trained on the made-up sentences: WordPiece, byte-level BPE and Unigram."""

import json
from collections.abc import Sequence
from typing import Any

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from tests.checkpoints.texts import texts


def trained(tokenizer: Tokenizer, trainer: Any) -> dict[str, Any]:
    """The `model` part of a tokenizer.json after training: vocabulary, merges or scores."""
    tokenizer.train_from_iterator(texts(), trainer)
    return json.loads(tokenizer.to_str())["model"]


def marked(mark: str, text: str) -> list[str]:
    """All letters of a text with the mark of one inside or at the end of a word, in order.

    A trainer that meets them itself numbers them in an order drawn anew each time, and settles ties by the numbers.
    """
    return [mark.format(letter) for letter in sorted({*text} - {" "})]


def wordpiece(special: Sequence[str], lowercase: bool, unknown: str = "[UNK]") -> dict[str, int]:
    """WordPiece: the id of every piece, the special tokens first."""
    tokenizer = Tokenizer(models.WordPiece(unk_token=unknown))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner = marked("##{}", tokenizer.normalizer.normalize_str("".join(texts())))
    trainer = trainers.WordPieceTrainer(
        vocab_size=350, special_tokens=[*special, *inner], show_progress=False
    )
    pieces = sorted(set(trained(tokenizer, trainer)["vocab"]) - set(special))
    return {piece: index for index, piece in enumerate([*special, *pieces])}


def byte_level(special: Sequence[str]) -> dict[str, Any]:
    """Byte-level BPE: `vocab` and `merges`, all bytes known."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=450,
        special_tokens=list(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    return trained(tokenizer, trainer)


def unigram(
    special: Sequence[str], unknown: str, lowercase: bool = False
) -> list[tuple[str, float]]:
    """Unigram behind a metaspace: every piece with its score, the special tokens first."""
    tokenizer = Tokenizer(models.Unigram())
    if lowercase:
        tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=350, special_tokens=list(special), unk_token=unknown, show_progress=False
    )
    subtokens = dict(trained(tokenizer, trainer)["vocab"])
    # Sorted and rounded, as the trainer draws the order and the last digits anew each time.
    return [(piece, 0.0) for piece in special] + sorted(
        (piece, round(score, 1)) for piece, score in subtokens.items() if piece not in special
    )
