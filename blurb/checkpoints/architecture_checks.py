"""What loads and cannot be fine-tuned: models that do not read sub-tokens, or not text. Refused before any training."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from blurb.inputs.features import Features
from blurb.inputs.tokenizer import Tokenizer
from blurb.messages.errors import ModelError

COMMON = ("the", "of", "and", "in", "with")
"""Words that every English text has."""
TEXT_TASKS = (
    "MASKED_LM",
    "CAUSAL_LM",
    "SEQ_TO_SEQ_CAUSAL_LM",
    "TOKEN_CLASSIFICATION",
    "SEQUENCE_CLASSIFICATION",
    "QUESTION_ANSWERING",
    "TEXT_ENCODING",
)
"""Tasks of transformers that read text and nothing else."""
PLACES = 9
"""Sub-tokens of the input by which an encoder shows whether it keeps the length."""


def check_type(folder: Path, config: Mapping[str, Any]) -> None:
    """Raises a ModelError if transformers has no text model of the type in config.json.

    Models of pictures and sound build others in ways that nobody needs here, and some have loaded code so. A type that
    transformers does not know is left to it.
    """
    kind = config.get("model_type")
    if kind is None and "auto_map" not in config:
        raise ModelError(
            "config.json has no model_type, so nothing says what the weights are of",
            where=folder,
            fix=f'add "model_type": "{_type_of(config.get("architectures"))}" to it.',
        )
    if isinstance(kind, str) and kind in _known_types() - _text_types():
        raise ModelError(
            f"config.json: '{kind}' is not a text-only model: it reads pictures or sound instead of sub-tokens",
            where=folder,
            fix="choose an encoder of text with a vocabulary, such as BERT, RoBERTa or DeBERTa.",
        )


def _type_of(architectures: Any) -> str:
    """The type of the class that config.json names (`BertForMaskedLM` is of bert), or a list of frequent types."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    given = architectures[0] if isinstance(architectures, list) and architectures else ""
    fitting = [
        (len(name), kind)
        for kind, cls in CONFIG_MAPPING_NAMES.items()
        if isinstance(given, str) and given.startswith(name := cls.removesuffix("Config"))
    ]
    return max(fitting)[1] if fitting else "bert (or roberta, electra, deberta-v2, ...)"


@cache
def _known_types() -> frozenset[str]:
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    return frozenset(CONFIG_MAPPING_NAMES)


@cache
def _text_types() -> frozenset[str]:
    """Types with a class for a task of text in transformers, and the text parts of others."""
    from transformers.models.auto import modeling_auto

    of_tasks = {kind for task in TEXT_TASKS for kind in getattr(modeling_auto, f"MODEL_FOR_{task}_MAPPING_NAMES", {})}
    parts = {kind for kind in _known_types() if kind.endswith(("_text", "_text_model"))}
    return frozenset(of_tasks | parts | {"dpr", "t5gemma2_encoder"})


def check_embeddings(folder: Path, model: Any) -> None:
    """Raises a ModelError if a model has no table with a vector for each entry of a vocabulary."""
    try:
        suits = hasattr(model.get_input_embeddings(), "num_embeddings")
    except (NotImplementedError, AttributeError):
        suits = False
    if not suits:
        raise ModelError(
            f"{type(model).__name__} has no table of token embeddings, so it does not read sub-tokens but "
            "pictures, sound, or characters (CANINE)",
            where=folder,
            fix="choose an encoder of text with a vocabulary, such as BERT, RoBERTa or DeBERTa.",
        )


def check_rows(folder: Path, tokenizer: Tokenizer, model: Any) -> None:
    """Raises a ModelError if a tokenizer has ids for which the embedding table of an encoder has no row."""
    rows = model.get_input_embeddings().num_embeddings
    if tokenizer.size > rows:
        entries = len(tokenizer.inner)
        has = f"{entries} entries" if entries > rows else f"an entry with id {tokenizer.size - 1}"
        raise ModelError(
            f"the tokenizer has {has}, but the encoder has only {rows} embeddings; they do not match.", where=folder
        )


def check_segments(model: Any, features: Features) -> None:
    """Raises a ModelError if inputs have segment ids that an encoder has no vector for."""
    if features.token_type_ids is None or not features.token_type_ids.values.size:
        return
    most = int(features.token_type_ids.values.max())
    for name, module in model.named_modules():
        entries = getattr(module, "num_embeddings", None)
        if name.endswith("token_type_embeddings") and isinstance(entries, int) and most >= entries:
            raise ModelError(
                f"The tokenizer gives the texts of a pair the segment ids 0 to {most}, but the encoder's table of "
                f"segments (type_vocab_size) has {entries}.",
                fix="Remove token_type_ids from model_input_names in "
                "tokenizer_config.json, or take the tokenizer that belongs to the encoder.",
            )


def check_length(folder: Path, model: Any) -> None:
    """Raises a ModelError if an encoder gives fewer or more vectors than it gets sub-tokens.

    :param model: on torch's `meta` device
    """
    shape = vectors_of(model)
    if shape is not None and shape[0] != PLACES:
        raise ModelError(
            f"{type(model).__name__} gives {shape[0]} vectors for {PLACES} sub-tokens, but blurb needs one for each",
            where=folder,
            fix="choose a checkpoint that restores the length (of Funnel one whose name does not end in -base).",
        )


def vectors_of(model: Any) -> tuple[int, int] | None:
    """The number of vectors for `PLACES` sub-tokens, and their width; None if the model does not say without weights.

    Without weights there are no values, so what inspects its mask fails; some make one where they are given none.
    """
    import torch

    ids = torch.ones(1, PLACES, dtype=torch.long, device="meta")
    for mask in (None, torch.ones_like(ids)):
        with suppress(Exception):  # anything may come out of a library or of code of the checkpoint
            _, places, width = model(input_ids=ids, attention_mask=mask).last_hidden_state.shape
            return int(places), int(width)
    return None


def check_text(folder: Path, tokenizer: Tokenizer) -> None:
    """Raises a ModelError if the vocabulary has neither common words nor most letters, so that all is unknown."""
    index = tokenizer.inner.unk_token_id
    unknown = [index in one.ids for one in tokenizer.subtokens([*COMMON, *ascii_lowercase])]
    letters = len(ascii_lowercase) - sum(unknown[len(COMMON) :])
    if all(unknown[: len(COMMON)]) and letters < len(ascii_lowercase) / 2:
        raise ModelError(
            f"the tokenizer knows none of the words {', '.join(COMMON)}, and {letters} of the letters a to "
            "z: its vocabulary is not one of English text (but of proteins, DNA, another script)",
            where=folder,
            fix="choose an encoder of English text.",
        )


def is_causal(encoder: Any) -> bool:
    """Whether the first vector stays the same when all other tokens change.

    What modules and configuration state is not asked: `is_causal` in config.json makes a decoder bidirectional whatever
    its modules say. Tokens are changed and not merely reordered: an encoder that attends to all alike and has no
    positions gives the same vector for any order.

    :param encoder: with its weights
    """
    import torch

    ids = torch.tensor([range(1, 9), [1, *range(9, 16)]]) % encoder.get_input_embeddings().num_embeddings
    with torch.no_grad():
        one, other = encoder.eval()(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[:, 0]
    return bool((one - other).abs().max() <= 1e-5 * one.abs().max())
