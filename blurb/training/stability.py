"""What Tinn et al. (arXiv 2112.07869) try against unstable fine-tuning; everything is off by default.

The layers of an encoder are its largest list of equal blocks; "lower" means nearer to the embeddings.
"""

from __future__ import annotations

from typing import Any

from torch import nn

from blurb.errors import SettingsError
from blurb.protocols.settings import Settings


def layers(encoder: nn.Module) -> list[Any]:
    """The layers from the lowest to the highest; empty if there is no list of blocks of one class."""
    lists = [
        list(module)
        for module in encoder.modules()
        if isinstance(module, nn.ModuleList) and len(set(map(type, module))) == 1
    ]
    sized = [(sum(p.numel() for block in blocks for p in block.parameters()), blocks) for blocks in lists]
    return max(sized, key=lambda pair: pair[0])[1] if sized else []


def prepare(encoder: Any, settings: Settings) -> None:
    """Draws the highest layers anew, freezes the lowest with the embeddings, and scales the rates, as the settings say.

    The highest layer and all above it (pooler, featurizer, head) learn with the rate of the settings, each layer below
    with `layer_decay` times that of the layer above it, and the embeddings with that of the lowest layer once more.

    :raises SettingsError: if the encoder has fewer layers, or none that can be told
    """
    found = layers(encoder)
    if settings.freeze_layers + settings.reinit_layers > len(found) or (settings.layer_decay < 1 and not found):
        raise SettingsError(
            f"freeze_layers {settings.freeze_layers} and reinit_layers {settings.reinit_layers} do not fit into the "
            f"{len(found)} layers of {type(encoder).__name__}."
        )
    for block in found[len(found) - settings.reinit_layers :]:
        for item in (*block.modules(), *block.parameters()):
            item._is_hf_initialized = False  # transformers leaves alone what it loaded
        block.apply(encoder._init_weights)
    below = _below(encoder, found)
    if settings.freeze_layers:
        for part in (*below, *found[: settings.freeze_layers]):
            part.requires_grad_(False)
    if settings.layer_decay < 1:
        for depth, block in enumerate(reversed(found)):
            block.learning_rate_scale = settings.layer_decay**depth
        for part in below:
            part.learning_rate_scale = settings.layer_decay ** len(found)


def _below(encoder: Any, found: list[Any]) -> list[Any]:
    """The modules that hold the input embeddings and no layer: word, position and segment tables and their norm."""
    table = encoder.get_input_embeddings()
    inside = [module for module in encoder.modules() if any(child is table for child in module.modules())]
    return [module for module in inside if not any(child is block for child in module.modules() for block in found)]
