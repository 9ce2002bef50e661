"""What loads and cannot be fine-tuned: models that do not read sub-tokens, or not text. Refused before any training."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from blurb.errors import ModelError
from blurb.inputs.tokenizer import Tokenizer

COMMON = ("the", "of", "and", "in", "with")
"""Words that every English text has."""
PLACES = 9
"""Sub-tokens of the input by which an encoder shows whether it keeps the length."""


def check_embeddings(folder: Path | str, model: Any) -> None:
    """Raises a ModelError if a model has no table with a vector for each entry of a vocabulary."""
    try:
        suits = hasattr(model.get_input_embeddings(), "num_embeddings")
    except (NotImplementedError, AttributeError):
        suits = False
    if not suits:
        raise ModelError(
            f"{folder}: {type(model).__name__} has no table of token embeddings, so it does not read sub-tokens but "
            "pictures, sound, or characters (CANINE); choose an encoder of text with a vocabulary, such as BERT, "
            "RoBERTa or DeBERTa."
        )


def check_length(folder: Path | str, model: Any) -> None:
    """Raises a ModelError if an encoder gives fewer or more vectors than it gets sub-tokens.

    :param model: on torch's `meta` device
    """
    places = _places(model)
    if places is not None and places != PLACES:
        raise ModelError(
            f"{folder}: {type(model).__name__} gives {places} vectors for {PLACES} sub-tokens, but blurb needs one for "
            "each; choose a checkpoint that restores the length (of Funnel one whose name does not end in -base)."
        )


def _places(model: Any) -> int | None:
    """The number of vectors for `PLACES` sub-tokens; None if the model does not say without weights.

    Without weights there are no values, so what inspects its mask fails; some make one where they are given none.
    """
    import torch

    ids = torch.ones(1, PLACES, dtype=torch.long, device="meta")
    for mask in (None, torch.ones_like(ids)):
        with suppress(Exception):  # anything may come out of a library or of code of the checkpoint
            return int(model(input_ids=ids, attention_mask=mask).last_hidden_state.shape[1])
    return None


def check_text(folder: Path | str, tokenizer: Tokenizer) -> None:
    """Raises a ModelError if the vocabulary has neither common words nor most letters, so that all is unknown."""
    index = tokenizer.inner.unk_token_id
    unknown = [index in one.ids for one in tokenizer.subtokens([*COMMON, *ascii_lowercase])]
    letters = len(ascii_lowercase) - sum(unknown[len(COMMON) :])
    if all(unknown[: len(COMMON)]) and letters < len(ascii_lowercase) / 2:
        raise ModelError(
            f"{folder}: the tokenizer knows none of the words {', '.join(COMMON)}, and {letters} of the letters a to "
            "z: its vocabulary is not one of English text (but of proteins, DNA, another script); choose an encoder of "
            "English text."
        )
