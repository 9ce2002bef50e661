"""Names of devices and precisions, and what this machine lacks; without torch, as a typo must cost no import."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from blurb.messages import SettingsError, opt

GPU_FILES = ("nvidia[0-9]*", "nvidiactl", "dxg", "kfd", "nvhost*", "nvmap")
"""Device files of GPUs under Linux: NVIDIA's driver, WSL, AMD's, Jetson's."""


def check_name(wanted: str) -> None:
    """Raises a SettingsError for a name that is no device of any machine."""
    if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", wanted):
        raise SettingsError(
            f"{opt('device')} must be one of auto, cpu, cuda, cuda:N, mps (got '{wanted}')."
        )


def check_precision(wanted: str) -> None:
    """Raises a SettingsError for a name that is no precision."""
    if wanted not in ("auto", "fp32", "bf16", "fp16"):
        raise SettingsError(
            f"{opt('precision')} must be one of auto, fp32, bf16, fp16 (got '{wanted}')."
        )


def unavailable_device(device: str, available: list[str]) -> SettingsError:
    """The error of a device that this machine does not have.

    :param available: the devices that it has
    """
    return SettingsError(
        f"{opt('device', device)} is not available; this machine has {', '.join(available)}."
    )


def no_fp16() -> SettingsError:
    """The error of half precision on a CPU."""
    return SettingsError(
        f"{opt('precision', 'fp16')} needs a GPU; on a CPU choose fp32, bf16 or auto."
    )


def check_here(device: str, precision: str) -> None:
    """Raises a SettingsError for a device or precision that this machine lacks, if that can be told without torch."""
    check_name(device)
    check_precision(precision)
    if not _has_no_gpu():
        return
    if device not in ("auto", "cpu"):
        raise unavailable_device(device, ["auto", "cpu"])
    if precision == "fp16":
        raise no_fp16()


def _has_no_gpu() -> bool:
    return sys.platform == "linux" and not any(any(Path("/dev").glob(name)) for name in GPU_FILES)
