"""The settings by subject, for help texts, which must be quick; `defaults.toml` describes them."""

from __future__ import annotations

from collections.abc import Mapping

GROUPS: Mapping[str, tuple[str, ...]] = {
    "training": (
        "lr", "head_lr", "batch_size", "epochs", "max_updates", "warmup", "weight_decay", "beta1", "beta2", "epsilon",
        "clip_norm", "select",
    ),
    "model": (
        "head", "head_init", "pooling", "word_pooling", "head_dropout", "encoder_dropout", "layer_decay",
        "freeze_layers", "reinit_layers",
    ),
    "examples": ("max_train", "max_eval", "eval_seed", "dev_sample"),
    "inputs": ("max_length", "tagging", "relation_input", "document_unit"),
    "baseline:bigrams": ("ngrams", "min_count", "window"),
}  # fmt: skip
