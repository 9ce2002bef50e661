"""Precision of training: which one, the autocast that turns on bf16, and products in bf16 where they are slow."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from blurb.training.devices import check_precision, no_fp16

Precision = Literal["fp32", "bf16", "fp16"]
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


def choose_precision(requested: str, device: torch.device) -> Precision:
    """Resolves the precision; `auto` is bf16 if the hardware supports it natively, else fp32."""
    if requested == "auto":
        return "bf16" if has_bf16(device) else "fp32"
    if requested == "fp16" and device.type == "cpu":
        raise no_fp16()
    check_precision(requested)
    return requested  # type: ignore[return-value]


def has_bf16(device: torch.device) -> bool:
    """Whether a device supports bf16 in hardware."""
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device) >= (8, 0)
    if device.type == "cpu":
        return torch.cpu._is_amx_tile_supported() or torch.cpu._is_avx512_bf16_supported()
    return False


def encoder_autocast(device: torch.device, precision: Precision) -> AbstractContextManager[object]:
    """The context in which an encoder runs: its products are in bf16 or fp16, its weights stay in float32."""
    check_precision(precision)  # for a kept model it comes from a file
    if precision == "fp32":
        return nullcontext()
    return torch.autocast(device.type, DTYPES[precision])


_ATEN = torch.ops.aten
PRODUCTS = {_ATEN.mm.default, _ATEN.addmm.default, _ATEN.bmm.default, _ATEN.baddbmm.default}


class ProductsInFloat32(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Within it products of bf16 matrices on a CPU are computed in float32 and rounded, forward and backward."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func in PRODUCTS and all(
            isinstance(value, Tensor)
            and value.dtype is torch.bfloat16
            and value.device.type == "cpu"
            for value in args
        ):
            return func(*(value.float() for value in args), **(kwargs or {})).bfloat16()
        return func(*args, **(kwargs or {}))


def bf16_products(device: torch.device, precision: str) -> AbstractContextManager[object]:
    """The context in which an encoder runs and learns: products in float32 where bf16 ones are plain loops."""
    slow = precision == "bf16" and device.type == "cpu" and not torch.cpu._is_avx512_supported()
    return ProductsInFloat32() if slow else nullcontext()  # type: ignore[no-untyped-call]
