"""The model and the vocabulary of a pretraining: from nothing, or from a checkpoint.

Vocabularies are WordPiece or byte-level BPE, the same for the same text in every process.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import BertWordPieceTokenizer, ByteLevelBPETokenizer
from tokenizers.processors import TemplateProcessing
from transformers import (
    AutoConfig,
    AutoModelForMaskedLM,
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
    BertForPreTraining,
    BertTokenizerFast,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
    set_seed,
)

from blurb.checkpoints import scratch
from blurb.extensions.lab.pretraining.recipe import HEAD, SIZES, Recipe
from blurb.messages import ModelError, SettingsError, opt

DROPOUTS = (
    "hidden_dropout_prob",
    "attention_probs_dropout_prob",
    "dropout",
    "attention_dropout",
    "activation_dropout",
    "embedding_dropout",
    "mlp_dropout",
)
"""Names of an encoder's dropout in configurations, by architecture."""


def build(texts: Sequence[str], recipe: Recipe) -> tuple[Any, PreTrainedTokenizerBase]:
    """The model and the tokenizer that a recipe begins with.

    :param texts: the documents that a new vocabulary is learnt from
    """
    if recipe.start:
        model, tokenizer = continued(recipe.start, recipe)
    else:
        tokenizer = train_vocabulary(texts, recipe)
        model = from_nothing(recipe, tokenizer)
    if not torch.cuda.is_available():
        # On a CPU the fused kernel spends twice the time of these short products, above all backwards.
        model.set_attn_implementation("eager")
    return model, tokenizer


def from_nothing(recipe: Recipe, tokenizer: PreTrainedTokenizerBase) -> Any:
    """A BERT of a size, with random weights that the seed of the recipe decides."""
    size = SIZES[recipe.size]
    config = BertConfig(
        vocab_size=len(tokenizer),
        **size,
        num_attention_heads=size["hidden_size"] // HEAD,
        intermediate_size=4 * size["hidden_size"],
        hidden_dropout_prob=recipe.dropout,
        attention_probs_dropout_prob=recipe.dropout,
        pad_token_id=tokenizer.pad_token_id,
    )
    set_seed(recipe.seed)
    return (BertForPreTraining if recipe.next_sentence else BertForMaskedLM)(config)


def continued(folder: str, recipe: Recipe) -> tuple[Any, PreTrainedTokenizerBase]:
    """The model and the tokenizer of a checkpoint; a head that it lacks is drawn by the seed.

    :raises ModelError: for a checkpoint without a mask token, or for pairs of texts one that is no BERT
    """
    tokenizer = _tokenizer_of(folder)
    if None in (tokenizer.mask_token_id, tokenizer.cls_token_id, tokenizer.sep_token_id):
        raise ModelError(
            "has no mask, [CLS] or [SEP] token, so it cannot learn to fill gaps",
            where=folder,
            fix="take another.",
        )
    set_seed(recipe.seed)
    config = AutoConfig.from_pretrained(folder)
    if recipe.next_sentence and config.model_type != "bert":
        raise ModelError(
            f"is of type {config.model_type}, and only BERT learns pairs of texts",
            where=folder,
            fix=f"remove {opt('next-sentence')}.",
        )
    for name in DROPOUTS:
        if hasattr(config, name):
            setattr(config, name, recipe.dropout)
    loader = BertForPreTraining if recipe.next_sentence else AutoModelForMaskedLM
    return loader.from_pretrained(folder, config=config, dtype=torch.float32), tokenizer


def _tokenizer_of(folder: str) -> PreTrainedTokenizerBase:
    if not Path(folder).is_dir():
        raise ModelError(
            "there is no such checkpoint",
            where=folder,
            fix="hf download fetches one (docs/models.md).",
        )
    return AutoTokenizer.from_pretrained(folder)


def train_vocabulary(texts: Sequence[str], recipe: Recipe) -> PreTrainedTokenizerBase:
    """A tokenizer with BERT's special tokens and a vocabulary from the texts.

    :raises SettingsError: if the texts do not support as many entries: rare pieces would be noise
    """
    if recipe.vocabulary_of:
        tokenizer = _checkpoint_tokenizer(texts, recipe)
    elif recipe.kind == "wordpiece":
        tokenizer = _bert(
            scratch.vocabulary(
                texts, recipe.vocabulary, lowercase=not recipe.cased, inner_letters=False
            ),
            recipe,
        )
    else:
        tokenizer = _bpe(texts, recipe)
    if len(tokenizer) < 0.9 * recipe.vocabulary:
        raise SettingsError(
            f"The text supports a vocabulary of {len(tokenizer):,} entries, not {recipe.vocabulary:,}",
            fix="ask for fewer, or add text.",
        )
    return tokenizer


def _checkpoint_tokenizer(texts: Sequence[str], recipe: Recipe) -> PreTrainedTokenizerBase:
    """The letters of the text, as a learnt vocabulary has them, then the entries that the checkpoint numbers first.

    Trainers of WordPiece number frequent pieces first, so a part of BERT's vocabulary is a smaller one of its text.

    :raises ModelError: for a checkpoint whose vocabulary is not WordPiece
    """
    pieces = checkpoint_entries(recipe.vocabulary_of)
    normalize = BertWordPieceTokenizer(lowercase=not recipe.cased).normalize
    letters = {letter for text in texts for letter in normalize(text) if not letter.isspace()}
    wanted = {*letters, *(f"##{letter}" for letter in letters)}
    first = [piece for piece in pieces if piece in wanted]
    others = [piece for piece in pieces if len(piece.removeprefix("##")) > 1]
    return _bert([*scratch.SPECIAL, *first, *others][: recipe.vocabulary], recipe)


def checkpoint_entries(folder: str) -> Sequence[str]:
    """The WordPiece entries of a checkpoint in the order of their numbers, without special and unused ones."""
    tokenizer = _tokenizer_of(folder)
    model = json.loads(tokenizer.backend_tokenizer.to_str())["model"] if tokenizer.is_fast else {}
    if model.get("type") != "WordPiece":
        raise ModelError(
            "has no WordPiece vocabulary", where=folder, fix="take a checkpoint of BERT."
        )
    entries = sorted(model["vocab"], key=model["vocab"].__getitem__)
    return [piece for piece in entries if piece[0] != "[" or piece[-1] != "]" or len(piece) == 1]


def _bert(entries: Sequence[str], recipe: Recipe) -> PreTrainedTokenizerBase:
    return BertTokenizerFast(
        vocab={piece: number for number, piece in enumerate(entries)},
        do_lower_case=not recipe.cased,
        strip_accents=not recipe.cased,
        model_max_length=512,
    )


def _bpe(texts: Sequence[str], recipe: Recipe) -> PreTrainedTokenizerBase:
    trained = ByteLevelBPETokenizer(add_prefix_space=True, lowercase=not recipe.cased)
    trained.train_from_iterator(
        texts,
        vocab_size=recipe.vocabulary,
        min_frequency=2,
        special_tokens=list(scratch.SPECIAL),
        show_progress=False,
    )
    # The processor of a ByteLevelBPETokenizer only moves offsets, which its decoder does not need.
    trained.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, trained.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    return PreTrainedTokenizerFast(
        tokenizer_object=trained._tokenizer, model_max_length=512, **names
    )
