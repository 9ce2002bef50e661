"""Device, free memory and reproducibility."""

from __future__ import annotations

import contextlib
import os
import platform
import random
from pathlib import Path

import numpy as np
import torch

from blurb.messages import SettingsError, opt
from blurb.training.devices import check_name, unavailable_device


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
    with contextlib.suppress(OSError):
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
