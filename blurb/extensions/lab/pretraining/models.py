"""The model of a pretraining: from nothing, or from a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb.extensions.lab.pretraining import vocabulary
from blurb.extensions.lab.pretraining.recipe import HEAD, SIZES, Recipe
from blurb.messages.errors import ModelError
from blurb.messages.spelling import opt

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

DROPOUTS = (
    "hidden_dropout_prob",
    "attention_probs_dropout_prob",
    "dropout",
    "attention_dropout",
    "activation_dropout",
    "embedding_dropout",
    "mlp_dropout",
)
"""What configurations call the dropout of an encoder, by architecture."""


def build(texts: Sequence[str], recipe: Recipe) -> tuple[Any, PreTrainedTokenizerBase]:
    """The model and the tokenizer that a recipe begins with.

    :param texts: the documents that a new vocabulary is learnt from
    """
    import torch

    if recipe.start:
        model, tokenizer = continued(recipe.start, recipe)
    else:
        tokenizer = vocabulary.train(texts, recipe)
        model = from_nothing(recipe, tokenizer)
    if not torch.cuda.is_available():
        # On a CPU the fused kernel spends twice the time of these short products, above all backwards.
        model.set_attn_implementation("eager")
    return model, tokenizer


def from_nothing(recipe: Recipe, tokenizer: PreTrainedTokenizerBase) -> Any:
    """A BERT of a size, with random weights that the seed of the recipe decides."""
    from transformers import BertConfig, BertForMaskedLM, BertForPreTraining, set_seed

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
    import torch
    from transformers import AutoConfig, AutoModelForMaskedLM, AutoTokenizer, BertForPreTraining, set_seed

    if not Path(folder).is_dir():
        raise ModelError("there is no such checkpoint", where=folder, fix="hf download fetches one (docs/models.md).")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    if tokenizer.mask_token_id is None or tokenizer.cls_token_id is None or tokenizer.sep_token_id is None:
        raise ModelError(
            "has no mask, [CLS] or [SEP] token, so it cannot learn to fill gaps", where=folder, fix="take another."
        )
    set_seed(recipe.seed)
    config = AutoConfig.from_pretrained(folder)
    if recipe.next_sentence and config.model_type != "bert":
        fix = f"remove {opt('next-sentence')}."
        raise ModelError(f"is of type {config.model_type}, and only BERT learns pairs of texts", where=folder, fix=fix)
    for name in DROPOUTS:
        if hasattr(config, name):
            setattr(config, name, recipe.dropout)
    loader = BertForPreTraining if recipe.next_sentence else AutoModelForMaskedLM
    return loader.from_pretrained(folder, config=config, dtype=torch.float32), tokenizer
