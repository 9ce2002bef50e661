"""AdamW and its learning-rate schedule."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from blurb.protocols.settings import Settings
from blurb.training.network import Network


def adamw(network: Network, settings: Settings) -> torch.optim.AdamW:
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
        groups, lr=settings.lr, betas=(settings.beta1, settings.beta2), eps=settings.epsilon, fused=True
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
