"""Encoders of known order, made from one BERT-like checkpoint: with noise, with its last layers anew, with its lowest
layers alone. The same checkpoint gives the same encoders everywhere: the draws are seeded."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

SEED = 20072015
FILES = ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json")


def noise(encoder: Any, share: float) -> None:
    """Adds normal noise to every tensor: `share` of the standard deviation of its values."""
    draw = torch.Generator().manual_seed(SEED)
    for value in encoder.parameters():
        value.data += (
            share * value.data.std(correction=0) * torch.randn(value.shape, generator=draw)
        )


def last_anew(encoder: Any, layers: int) -> None:
    """Draws the weights of the last layers as before pretraining."""
    draw = torch.Generator().manual_seed(SEED)
    for layer in encoder.encoder.layer[-layers:]:
        for module in layer.modules():
            if isinstance(module, nn.Linear):
                spread = encoder.config.initializer_range
                module.weight.data = torch.randn(module.weight.shape, generator=draw) * spread
                module.bias.data.zero_()
            elif isinstance(module, nn.LayerNorm):
                module.weight.data.fill_(1)
                module.bias.data.zero_()


def lowest(encoder: Any, layers: int) -> None:
    """Leaves the lowest layers alone."""
    encoder.encoder.layer = encoder.encoder.layer[:layers]
    encoder.config.num_hidden_layers = layers


ENCODERS: Mapping[str, Callable[[Any], None]] = {
    "whole": lambda encoder: None,
    "noise20": partial(noise, share=0.2),
    "noise40": partial(noise, share=0.4),
    "noise80": partial(noise, share=0.8),
    "low4": partial(lowest, layers=4),
    "low2": partial(lowest, layers=2),
    "last1": partial(last_anew, layers=1),
    "last3": partial(last_anew, layers=3),
}
"""In the order in which the study runs them."""


def make(checkpoint: Path, folder: Path, name: str) -> Path:
    """The folder of an encoder, made if it is not there; the checkpoint's own for the first."""
    if name == next(iter(ENCODERS)):
        return checkpoint
    from transformers import AutoModel

    target = folder / name
    if not (target / "config.json").is_file():
        encoder = AutoModel.from_pretrained(checkpoint, dtype=torch.float32)
        ENCODERS[name](encoder)
        aside = folder / f".{name}"
        shutil.rmtree(aside, ignore_errors=True)
        encoder.save_pretrained(aside)
        for file in FILES:
            if (checkpoint / file).is_file():
                shutil.copy(checkpoint / file, aside / file)
        aside.replace(target)
    return target
