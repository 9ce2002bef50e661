"""AdamW, its learning-rate schedule, and layers that are frozen, reinitialised or learn at rates of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from blurb.messages import SettingsError
from blurb.protocols.settings import Settings
from blurb.training.network import Network


def make_adamw(network: Network, settings: Settings) -> torch.optim.AdamW:
    """AdamW over all trainable parameters, without weight decay on biases and norms, as usual for BERT.

    Every group has a `peak` learning rate (`lr`, or `head_lr` outside of the encoder) and a `scale`, which a module
    sets with `learning_rate_scale`.
    """
    inside = set(network.encoder.parameters()) if settings.head_lr else set(network.parameters())
    scales = {
        parameter: float(module.learning_rate_scale)  # type: ignore[arg-type]
        for module in network.modules()  # parents first
        if hasattr(module, "learning_rate_scale")
        for parameter in module.parameters()
    }
    by_group: dict[tuple[float, float, float], list[nn.Parameter]] = {}  # decay, peak, scale
    for parameter in network.parameters():
        if parameter.requires_grad:
            decay = settings.weight_decay if parameter.ndim > 1 else 0.0
            rate = settings.lr if parameter in inside else settings.head_lr
            by_group.setdefault((decay, rate, scales.get(parameter, 1.0)), []).append(parameter)
    groups = [
        {"params": chosen, "weight_decay": decay, "peak": peak, "scale": scale}
        for (decay, peak, scale), chosen in by_group.items()
    ]
    return torch.optim.AdamW(
        groups,
        lr=settings.lr,
        betas=(settings.beta1, settings.beta2),
        eps=settings.epsilon,
        fused=True,
    )


def learning_rate_factor(warmup: float, total: int) -> Callable[[int], float]:
    """Linear warm-up, then linear decay to 0 (Gu et al., section 2.5).

    :param warmup: fraction of the steps if below 1, else a number of steps
    :param total: total number of steps
    :returns: function from the step (0, 1, ...) to the factor; as in transformers, with warm-up the first factor is 0
    """
    up = min(total, int(warmup) if warmup >= 1 else round(warmup * total))

    def factor(step: int) -> float:
        if step < up:
            return step / max(1, up)
        return max(0.0, (total - step) / max(1, total - up))

    return factor


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
    kind = type(
        max(
            blocks,
            key=lambda listed: sum(p.numel() for block in listed for p in block.parameters()),
        )[0]
    )
    # All of that class: Funnel has its layers in several lists.
    return [module for module in encoder.modules() if type(module) is kind]


def layers_differ(settings: Settings) -> bool:
    """Whether the settings treat layers differently."""
    return bool(settings.freeze_layers or settings.reinit_layers or settings.layer_decay < 1)


def check_layers(encoder: Any, settings: Settings) -> None:
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


def treat_layers(encoder: Any, settings: Settings) -> None:
    """Reinitialises the highest layers, freezes the lowest with the embeddings, and scales the learning rates.

    The highest layer and everything above it (pooler, featurizer, head) use the learning rate of the settings, each
    lower layer `layer_decay` times that of the layer above, and the embeddings `layer_decay` times that of the lowest.

    :raises SettingsError: as `check_layers`
    """
    if not layers_differ(settings):
        return
    check_layers(encoder, settings)
    stack = layers(encoder)
    for block in stack[len(stack) - settings.reinit_layers :]:
        for item in (*block.modules(), *block.parameters()):
            item._is_hf_initialized = False  # transformers leaves alone what it loaded
        block.apply(encoder._init_weights)
    table = encoder.get_input_embeddings()
    inside = [
        module for module in encoder.modules() if any(child is table for child in module.modules())
    ]
    # Word, position and segment tables and their norm: the modules with the input embeddings but no layer.
    below = [
        module
        for module in inside
        if not any(child is block for child in module.modules() for block in stack)
    ]
    if settings.freeze_layers:
        for part in (*below, *stack[: settings.freeze_layers]):
            part.requires_grad_(False)
    if settings.layer_decay < 1:
        for depth, block in enumerate(reversed(stack)):
            block.learning_rate_scale = settings.layer_decay**depth
        for part in below:
            part.learning_rate_scale = settings.layer_decay ** len(stack)
