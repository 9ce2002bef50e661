"""Techniques of Tinn et al. (arXiv 2112.07869) against unstable fine-tuning; all off by default.

The layers of an encoder are the blocks of the class that its largest list of blocks has; "lower" means closer to the
embeddings.
"""

from __future__ import annotations

from typing import Any

from torch import nn

from blurb.messages.errors import SettingsError
from blurb.protocols.settings import Settings


def layers(encoder: nn.Module) -> list[Any]:
    """The layers from the lowest to the highest; empty if there is no list of blocks of one class."""
    lists = [
        list(module)
        for module in encoder.modules()
        if isinstance(module, nn.ModuleList) and len(set(map(type, module))) == 1
    ]
    blocks = [blocks for blocks in lists if not isinstance(blocks[0], nn.ModuleList)]
    if not blocks:
        return []
    kind = type(max(blocks, key=lambda listed: sum(p.numel() for block in listed for p in block.parameters()))[0])
    # All of that class: Funnel has its layers in several lists.
    return [module for module in encoder.modules() if type(module) is kind]


def asked_for(settings: Settings) -> bool:
    """Whether the settings treat layers differently."""
    return bool(settings.freeze_layers or settings.reinit_layers or settings.layer_decay < 1)


def check(encoder: Any, settings: Settings) -> None:
    """Raises a SettingsError if the encoder (which needs no weights) has too few layers, or they share weights."""
    count, name = len(layers(encoder)), type(encoder).__name__
    repeated = getattr(encoder.config, "num_hidden_layers", count)
    if 0 < count < repeated:
        raise SettingsError(
            f"The {repeated} layers of {name} share the weights of {count} (as in ALBERT), so they cannot be treated "
            "differently: leave freeze_layers, reinit_layers and layer_decay at their defaults."
        )
    if settings.freeze_layers + settings.reinit_layers > count or not count:
        raise SettingsError(
            f"freeze_layers {settings.freeze_layers} plus reinit_layers {settings.reinit_layers} must not exceed the "
            f"{count} layers of {name}."
        )


def apply(encoder: Any, settings: Settings) -> None:
    """Reinitialises the highest layers, freezes the lowest with the embeddings, and scales the learning rates.

    The highest layer and everything above it (pooler, featurizer, head) use the learning rate of the settings, each
    lower layer `layer_decay` times that of the layer above, and the embeddings `layer_decay` times that of the lowest.

    :raises SettingsError: as `check`
    """
    if not asked_for(settings):
        return
    check(encoder, settings)
    stack = layers(encoder)
    for block in stack[len(stack) - settings.reinit_layers :]:
        for item in (*block.modules(), *block.parameters()):
            item._is_hf_initialized = False  # transformers leaves alone what it loaded
        block.apply(encoder._init_weights)
    below = _below(encoder, stack)
    if settings.freeze_layers:
        for part in (*below, *stack[: settings.freeze_layers]):
            part.requires_grad_(False)
    if settings.layer_decay < 1:
        for depth, block in enumerate(reversed(stack)):
            block.learning_rate_scale = settings.layer_decay**depth
        for part in below:
            part.learning_rate_scale = settings.layer_decay ** len(stack)


def _below(encoder: Any, found: list[Any]) -> list[Any]:
    """The modules with the input embeddings but no layer: word, position and segment tables and their norm."""
    table = encoder.get_input_embeddings()
    inside = [module for module in encoder.modules() if any(child is table for child in module.modules())]
    return [module for module in inside if not any(child is block for child in module.modules() for block in found)]
