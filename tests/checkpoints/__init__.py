"""Tiny random checkpoints, each with the real kind of tokenizer of its family, trained on made-up text.

`build(kind, folder)` writes one as `save_pretrained` would; no network, a fraction of a second each.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

from blurb.learners.building import resolve_model
from blurb.messages.errors import ModelError
from tests.checkpoints import families, kinds
from tests.checkpoints.families import xlnet_tokenizer
from tests.checkpoints.kinds import SIZES
from tests.checkpoints.texts import odd_words, texts, words

__all__ = [
    "DECODERS",
    "FAMILIES",
    "KINDS",
    "MISSING",
    "REFUSED",
    "SIZES",
    "build",
    "odd_words",
    "refused",
    "reweigh",
    "texts",
    "words",
    "xlnet_tokenizer",
]

State = dict[str, torch.Tensor]

_USUAL: tuple[Callable[[Path], None], ...] = (
    kinds.bert_uncased,
    kinds.bert_cased,
    kinds.roberta,
    kinds.modernbert,
    kinds.deberta,
    kinds.t5,
    kinds.bertweet,
)
_OTHERS: tuple[Callable[[Path], None], ...] = (
    families.xlm_roberta,
    families.albert,
    families.electra,
    families.deberta_v1,
    families.distilbert,
    families.mpnet,
    families.eurobert,
    families.nomic_bert,
    families.longformer,
    families.big_bird,
    families.funnel,
    families.xlnet,
    families.ultrabert,
    families.embedding_gemma2,
)
_DECODERS: tuple[Callable[[Path], None], ...] = (
    families.qwen3,
    families.llama,
    families.mistral,
    families.gemma3,
)
_REFUSED: tuple[Callable[[Path], None], ...] = (families.funnel_base, families.canine)
KINDS = tuple(builder.__name__ for builder in _USUAL)
"""What most tests go through: every kind of tokenizer, and of positions."""
MISSING = {"ultrabert", "embedding_gemma2"} - CONFIG_MAPPING_NAMES.keys()
"""Families that the installed release of transformers does not have."""
FAMILIES = tuple(builder.__name__ for builder in _OTHERS if builder.__name__ not in MISSING)
"""The other families of encoders, for tests of what differs between architectures."""
DECODERS = tuple(builder.__name__ for builder in _DECODERS)
"""Causal decoders of today."""
REFUSED = tuple(builder.__name__ for builder in _REFUSED)
"""Families that cannot be fine-tuned here."""
BUILDERS = {builder.__name__: builder for builder in (*_USUAL, *_OTHERS, *_DECODERS, *_REFUSED)}


def build(kind: str, folder: Path, seed: int = 0) -> Path:
    """Writes the checkpoint of a kind or family; the weights follow from the seed."""
    state = torch.random.get_rng_state()
    torch.manual_seed(seed)
    BUILDERS[kind](folder)
    torch.random.set_rng_state(state)
    return folder


def reweigh(path: Path, change: Callable[[State], State], to: Path | None = None) -> None:
    """Changes the weights of a file in place, or writes them elsewhere."""
    save_file(change(load_file(path)), to or path, metadata={"format": "pt"})


def refused(reference: str | Path, said: str, **more: str | Path) -> None:
    """A model that is not resolved, with a sentence that matches."""
    with pytest.raises(ModelError, match=said):
        resolve_model(str(reference), **{name: str(value) for name, value in more.items()})  # type: ignore[arg-type]
