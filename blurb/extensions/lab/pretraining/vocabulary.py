"""Vocabularies from text: WordPiece or byte-level BPE, the same for the same text in every process."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from blurb.checkpoints import scratch
from blurb.extensions.lab.pretraining.recipe import Recipe
from blurb.messages.errors import ModelError, SettingsError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def train(texts: Sequence[str], recipe: Recipe) -> PreTrainedTokenizerBase:
    """A tokenizer with BERT's special tokens and a vocabulary from the texts.

    :raises SettingsError: if the texts do not support as many entries: rare pieces would be noise
    """
    build = _of_checkpoint if recipe.vocabulary_of else _wordpiece if recipe.kind == "wordpiece" else _bpe
    tokenizer = build(texts, recipe)
    if len(tokenizer) < 0.9 * recipe.vocabulary:
        raise SettingsError(
            f"The text supports a vocabulary of {len(tokenizer):,} entries, not {recipe.vocabulary:,}",
            fix="ask for fewer, or add text.",
        )
    return tokenizer


def _wordpiece(texts: Sequence[str], recipe: Recipe) -> PreTrainedTokenizerBase:
    return _bert(scratch.vocabulary(texts, recipe.vocabulary, lowercase=not recipe.cased, inner_letters=False), recipe)


def _of_checkpoint(texts: Sequence[str], recipe: Recipe) -> PreTrainedTokenizerBase:
    """The letters of the text, as a learnt vocabulary has them, then the entries that the checkpoint numbers first.

    Trainers of WordPiece number frequent pieces first, so a part of BERT's vocabulary is a smaller one of its text.

    :raises ModelError: for a checkpoint whose vocabulary is not WordPiece
    """
    from tokenizers import BertWordPieceTokenizer

    pieces = checkpoint_entries(recipe.vocabulary_of)
    normalize = BertWordPieceTokenizer(lowercase=not recipe.cased).normalize
    letters = {letter for text in texts for letter in normalize(text) if not letter.isspace()}
    wanted = {*letters, *(f"##{letter}" for letter in letters)}
    first = [piece for piece in pieces if piece in wanted]
    others = [piece for piece in pieces if len(piece.removeprefix("##")) > 1]
    return _bert([*scratch.SPECIAL, *first, *others][: recipe.vocabulary], recipe)


def checkpoint_entries(folder: str) -> Sequence[str]:
    """The WordPiece entries of a checkpoint in the order of their numbers, without special and unused ones."""
    from transformers import AutoTokenizer

    if not Path(folder).is_dir():
        raise ModelError("there is no such checkpoint", where=folder, fix="hf download fetches one (docs/models.md).")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = json.loads(tokenizer.backend_tokenizer.to_str())["model"] if tokenizer.is_fast else {}
    if model.get("type") != "WordPiece":
        raise ModelError("has no WordPiece vocabulary", where=folder, fix="take a checkpoint of BERT.")
    entries = sorted(model["vocab"], key=model["vocab"].__getitem__)
    return [piece for piece in entries if piece[0] != "[" or piece[-1] != "]" or len(piece) == 1]


def _bert(entries: Sequence[str], recipe: Recipe) -> PreTrainedTokenizerBase:
    from transformers import BertTokenizerFast

    return BertTokenizerFast(
        vocab={piece: number for number, piece in enumerate(entries)},
        do_lower_case=not recipe.cased,
        strip_accents=not recipe.cased,
        model_max_length=512,
    )


def _bpe(texts: Sequence[str], recipe: Recipe) -> PreTrainedTokenizerBase:
    from tokenizers import ByteLevelBPETokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    trained = ByteLevelBPETokenizer(add_prefix_space=True, lowercase=not recipe.cased)
    trained.train_from_iterator(
        texts, vocab_size=recipe.vocabulary, min_frequency=2, special_tokens=list(scratch.SPECIAL), show_progress=False
    )
    ends = [(name, trained.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    # The processor of a ByteLevelBPETokenizer only moves offsets, which its decoder does not need.
    trained.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    names = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    return PreTrainedTokenizerFast(
        tokenizer_object=trained._tokenizer,
        model_max_length=512,
        **{f"{name}_token": token for name, token in names.items()},
    )
