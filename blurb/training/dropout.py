"""Faster dropout on CPUs: the same distribution from a quarter of the random numbers.

On CPUs torch draws one number per element from a serial generator, which took a third of a training step (MiniLM, two
cores). Here one 64-bit number serves four elements, and the mask is applied with integer instructions. The generator is
torch's own, so a run with the same seed is still bit-identical. On GPUs torch's dropout is used.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from blurb.training.network import use_attention

ATTENTION = "blurb_cpu"


def masks(size: int, p: float) -> Tensor:
    """(size,) of int16: all bits set to keep an element, none to drop it; dropped with probability p (to 1/32768)."""
    bits = (
        torch.empty((size + 3) // 4, dtype=torch.int64)
        .random_(-(2**63), None)
        .view(torch.int16)[:size]
    )
    # 15 random bits minus the threshold are negative for dropped elements; the shift spreads the sign over all bits.
    return bits.bitwise_and_(0x7FFF).sub_(round(p * 32768)).bitwise_right_shift_(15).bitwise_not_()


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, p: float) -> Tensor:
        mask = masks(x.numel(), p).view(x.shape)
        ctx.save_for_backward(mask)
        ctx.scale = 1 / (1 - p)
        return _apply_mask(x, mask, ctx.scale)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (mask,) = ctx.saved_tensors
        return _apply_mask(gradient, mask, ctx.scale), None


def _apply_mask(x: Tensor, mask: Tensor, scale: float) -> Tensor:
    scaled = x.contiguous() * scale
    bits, wide = (
        (torch.int16, mask) if x.element_size() == 2 else (torch.int32, mask.to(torch.int32))
    )
    return scaled.view(bits).bitwise_and_(wide).view(x.dtype)


def dropout(x: Tensor, p: float) -> Tensor:
    """`torch.nn.functional.dropout` in training for float32, bfloat16 and float16 tensors on a CPU."""
    result: Tensor = _Dropout.apply(x, p) if p > 0 else x  # type: ignore[no-untyped-call]
    return result


class CpuDropout(nn.Dropout):
    """Replacement of `torch.nn.Dropout` on CPUs."""

    def forward(self, x: Tensor) -> Tensor:
        return dropout(x, self.p) if self.training else x


def attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    position_bias: Tensor | None = None,
    is_causal: bool | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Attention for transformers' attention interface: torch's own, unless it needs dropout.

    Query, key and value are (batch, heads, pieces, size), the mask is boolean or additive, and T5's position bias is
    added to the scores; returns (batch, pieces, heads, size).
    """
    causal = getattr(module, "is_causal", False) if is_causal is None else is_causal
    if not dropout or key.shape[1] != query.shape[1] or (causal and attention_mask is None):
        return sdpa_attention_forward(  # type: ignore[no-any-return]
            module,
            query,
            key,
            value,
            attention_mask,
            dropout=dropout,
            scaling=scaling,
            position_bias=position_bias,
            is_causal=is_causal,
            **kwargs,
        )
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    # In the dtype of the values: autocast would copy the weights, the largest tensors of a layer, to float32 and back.
    with torch.autocast(query.device.type, enabled=False):
        scores = (query * scale) @ key.transpose(-1, -2)  # (batch, heads, pieces, pieces)
        if attention_mask is not None:
            if attention_mask.dtype == torch.bool:
                attention_mask = torch.zeros_like(attention_mask, dtype=scores.dtype).masked_fill_(
                    ~attention_mask, torch.finfo(scores.dtype).min
                )
            scores = scores + attention_mask.to(scores.dtype)
        if position_bias is not None:
            scores = scores + position_bias.to(scores.dtype)
        weights = _Dropout.apply(scores.softmax(-1), dropout)  # type: ignore[no-untyped-call]
        return (weights @ value).transpose(1, 2).contiguous(), None


def set_dropout(encoder: nn.Module, p: float) -> None:
    """Sets the probability of every dropout in an encoder, whether a module or a number."""
    for module in encoder.modules():
        if isinstance(module, nn.Dropout):
            module.p = p
        for name, value in list(vars(module).items()):
            if "dropout" in name and isinstance(value, float):
                setattr(module, name, p)


def use_cpu_dropout(network: nn.Module) -> None:
    """Replaces the dropout modules of a network to train on a CPU, and the attention dropout of its `encoder`."""
    for module in list(network.modules()):
        for name, child in module.named_children():
            if type(child) is nn.Dropout:
                setattr(module, name, CpuDropout(child.p))
    use_attention(network.encoder, ATTENTION, attention, sdpa_mask)
