"""Vocabularies from text: WordPiece or byte-level BPE, the same for the same text in every process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from blurb.checkpoints import scratch
from blurb.lab.pretraining.recipe import Recipe
from blurb.messages.errors import SettingsError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def train(texts: Sequence[str], recipe: Recipe) -> PreTrainedTokenizerBase:
    """A tokenizer with BERT's special tokens and a vocabulary from the texts.

    :raises SettingsError: if the texts do not support as many entries: rare pieces would be noise
    """
    build = _wordpiece if recipe.kind == "wordpiece" else _bpe
    tokenizer = build(texts, recipe)
    if len(tokenizer) < 0.9 * recipe.vocabulary:
        raise SettingsError(
            f"The text supports a vocabulary of {len(tokenizer):,} entries, not {recipe.vocabulary:,}",
            fix="ask for fewer, or add text.",
        )
    return tokenizer


def _wordpiece(texts: Sequence[str], recipe: Recipe) -> PreTrainedTokenizerBase:
    from transformers import BertTokenizerFast

    entries = scratch.vocabulary(texts, recipe.vocabulary, lowercase=not recipe.cased, inner_letters=False)
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
