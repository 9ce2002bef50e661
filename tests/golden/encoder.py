"""A checkpoint that every machine builds alike: a vocabulary written by hand, weights by whole-number arithmetic.

Nothing in it comes from a random generator, a trainer or a library's defaults, so its hashes are the same for good, and
with them those of the trials in `hashes.json` and `store/`.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
MARKS = tuple(".,;:!?()[]{}<>@$%&*+-/=#'\"_|^~`\\")
WORDS = (
    "the",
    "of",
    "and",
    "in",
    "a",
    "to",
    "with",
    "was",
    "were",
    "is",
    "are",
    "not",
    "no",
    "by",
    "for",
    "on",
    "that",
    "patients",
    "gene",
    "drug",
    "chemical",
    "disease",
    "cells",
    "trial",
    "dose",
    "group",
    "yes",
    "maybe",
)
CONFIG: Mapping[str, Any] = {
    "model_type": "bert",
    "architectures": ["BertModel"],
    "vocab_size": 0,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "attention_probs_dropout_prob": 0.1,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
    "initializer_range": 0.02,
    "layer_norm_eps": 1e-12,
    "pad_token_id": 0,
}


def vocabulary() -> list[str]:
    """The entries in the order of their ids: every letter, alone and inside a word, marks, and some words."""
    return [*SPECIAL, *LETTERS, *(f"##{letter}" for letter in LETTERS), *MARKS, *WORDS]


def shapes(size: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of BERT's weights for a vocabulary of that size."""
    hidden, wide = CONFIG["hidden_size"], CONFIG["intermediate_size"]
    found: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (size, hidden),
        "embeddings.position_embeddings.weight": (CONFIG["max_position_embeddings"], hidden),
        "embeddings.token_type_embeddings.weight": (CONFIG["type_vocab_size"], hidden),
        **_norm("embeddings.LayerNorm", hidden),
        **_linear("pooler.dense", hidden, hidden),
    }
    for layer in range(CONFIG["num_hidden_layers"]):
        base = f"encoder.layer.{layer}"
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            found |= _linear(f"{base}.attention.{name}", hidden, hidden)
        found |= _norm(f"{base}.attention.output.LayerNorm", hidden)
        found |= _linear(f"{base}.intermediate.dense", wide, hidden) | _linear(
            f"{base}.output.dense", hidden, wide
        )
        found |= _norm(f"{base}.output.LayerNorm", hidden)
    return found


def _linear(name: str, outputs: int, inputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _norm(name: str, size: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (size,), f"{name}.bias": (size,)}


def weights(variant: int) -> dict[str, NDArray[np.float32]]:
    """Weights in [-0.125, 0.125) from Knuth's multiplicative hash of their place; norms begin as the identity."""
    found = {}
    start = np.uint64(variant * 1_000_003)
    for name, shape in sorted(shapes(len(vocabulary())).items()):
        size = int(np.prod(shape))
        if "LayerNorm" in name:
            found[name] = np.full(shape, float(name.endswith("weight")), dtype=np.float32)
            continue
        places = start + np.arange(size, dtype=np.uint64)
        mixed = (places * np.uint64(2_654_435_761)) % np.uint64(2**32)
        found[name] = (
            ((mixed.astype(np.float64) / 2**32 - 0.5) / 4).astype(np.float32).reshape(shape)
        )
        start += np.uint64(size)
    return found


def build(folder: Path, variant: int = 1) -> Path:
    """Writes the checkpoint; another variant has other weights and the same tokenizer."""
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    entries = vocabulary()
    _write(folder / "config.json", {**CONFIG, "vocab_size": len(entries)})
    _write(folder / "tokenizer.json", _tokenizer(entries))
    special = {"unk": "[UNK]", "sep": "[SEP]", "pad": "[PAD]", "cls": "[CLS]", "mask": "[MASK]"}
    settings = {
        "tokenizer_class": "BertTokenizer",
        "do_lower_case": True,
        "model_max_length": 512,
        **{f"{role}_token": token for role, token in special.items()},
    }
    _write(folder / "tokenizer_config.json", settings)
    (folder / "vocab.txt").write_text("".join(f"{entry}\n" for entry in entries), encoding="utf-8")
    save_file(weights(variant), folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def _tokenizer(entries: list[str]) -> dict[str, Any]:
    """WordPiece that lower-cases, with BERT's frame of special tokens."""
    ids = {token: entries.index(token) for token in ("[CLS]", "[SEP]")}
    flags = {
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": place, "content": token, **flags} for place, token in enumerate(SPECIAL)
        ],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [_special("[CLS]", 0), _text("A", 0), _special("[SEP]", 0)],
            "pair": [
                _special("[CLS]", 0),
                _text("A", 0),
                _special("[SEP]", 0),
                _text("B", 1),
                _special("[SEP]", 1),
            ],
            "special_tokens": {
                token: {"id": token, "ids": [place], "tokens": [token]}
                for token, place in ids.items()
            },
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {entry: place for place, entry in enumerate(entries)},
        },
    }


def _special(token: str, segment: int) -> dict[str, Any]:
    return {"SpecialToken": {"id": token, "type_id": segment}}


def _text(name: str, segment: int) -> dict[str, Any]:
    return {"Sequence": {"id": name, "type_id": segment}}


def _write(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
