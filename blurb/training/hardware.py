"""Device, reproducibility and precision.

Of precision: which one, the autocast that turns on bf16, and products in bf16 where they are slow.
"""

from __future__ import annotations

import os
import platform
import random
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from blurb.messages import SettingsError, opt
from blurb.training.devices import check_name, check_precision, no_fp16, unavailable_device


def choose_device(requested: str) -> torch.device:
    """Resolves `auto`, `cpu`, `cuda`, `cuda:1` or `mps`; SettingsError if this machine does not have the device."""
    if requested == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    check_name(requested)
    if requested not in _available_devices():
        raise unavailable_device(requested, _available_devices())
    device = torch.device(requested)
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise SettingsError(
            f"{opt('device', requested)} cannot be used: {str(error).splitlines()[0]}"
        ) from error
    return device


def _available_devices() -> list[str]:
    """The devices of this machine, as values of --device."""
    gpus = [f"cuda:{index}" for index in range(torch.cuda.device_count())]
    return [
        "auto",
        "cpu",
        *(["cuda", *gpus] if gpus else []),
        *(["mps"] if torch.backends.mps.is_available() else []),
    ]


def machine_names(device: str) -> list[str]:
    """Names that decide speed: architecture, processor, and the GPU if it is the device."""
    processor = platform.processor()
    with suppress(OSError):
        listed = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        models = (
            line.partition(":")[2].strip() for line in listed if line.startswith("model name")
        )
        processor = next(models, processor)
    gpu = [torch.cuda.get_device_name(device)] if device.startswith("cuda") else []
    return [platform.machine(), processor, *gpu]


def seed_everything(seed: int) -> None:
    """Seeds Python, NumPy and torch and enables deterministic kernels, so that a machine repeats a trial exactly."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True, warn_only=True)
    # That mode also fills fresh memory, to expose reads of uninitialised values: a fifth of a training step here.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def out_of_memory(error: RuntimeError) -> bool:
    """Whether an error means out of memory, on a GPU or a CPU."""
    # What torch says on Windows, on Linux, and on Apple's GPUs.
    messages = ("not enough memory", "can't allocate memory", "out of memory")
    return isinstance(error, torch.cuda.OutOfMemoryError) or any(
        text in str(error).lower() for text in messages
    )


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
