"""Products in bf16 on a processor that has none.

Without AVX-512 torch multiplies bf16 matrices on a CPU in plain loops, 10 to 50 times slower than float32. Here factors
and result are rounded to bf16 as they are there, and the product between them is one of float32, which is how bf16
products are defined: exact products of the rounded numbers, summed in float32. Only the order of the sum differs, as it
does from one kind of processor to another. Precision `auto` is fp32 on such processors; this is for results that have
to be compared with those of others in bf16.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

_ATEN = torch.ops.aten
PRODUCTS = {_ATEN.mm.default, _ATEN.addmm.default, _ATEN.bmm.default, _ATEN.baddbmm.default}


class ProductsInFloat32(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Within it products of bf16 matrices on a CPU are computed in float32 and rounded, forward and backward."""

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Sequence[type], args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func not in PRODUCTS or any(_is_other(value) for value in args):
            return func(*args, **(kwargs or {}))
        return func(*(value.float() for value in args), **(kwargs or {})).bfloat16()


def _is_other(value: Any) -> bool:
    """Whether an argument of a product is no bf16 matrix on a CPU."""
    return not (isinstance(value, Tensor) and value.dtype is torch.bfloat16 and value.device.type == "cpu")


def bf16_products(device: torch.device, precision: str) -> AbstractContextManager[object]:
    """The context in which an encoder runs and learns: products in float32 where bf16 ones are plain loops."""
    slow = precision == "bf16" and device.type == "cpu" and not torch.cpu._is_avx512_supported()
    return ProductsInFloat32() if slow else nullcontext()  # type: ignore[no-untyped-call]
