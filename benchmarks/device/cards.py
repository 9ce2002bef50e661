"""What a figure was measured on, in words that name no machine, and why a machine cannot measure."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

GIB = 2**30
CPU = "CPU"
"""What a rehearsal calls its card."""
LIBRARIES = ("torch", "transformers", "tokenizers", "accelerate", "datasets", "numpy")


def describe() -> dict[str, Any]:
    """The card, its memory in GiB, driver-side facts and versions.

    `card` is the card's name, or `CPU`; `memory` that of the card, or of the machine.
    """
    import torch

    facts: dict[str, Any] = {
        "card": CPU,
        "cards": 0,
        "memory": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIB, 1),
        "cuda": torch.version.cuda,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **{name: _version(name) for name in LIBRARIES},
    }
    if torch.cuda.is_available():
        properties = torch.cuda.get_device_properties(0)
        facts |= {
            "card": properties.name,
            "cards": torch.cuda.device_count(),
            "memory": round(properties.total_memory / GIB, 1),
            "capability": f"{properties.major}.{properties.minor}",
        }
    return facts


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def lacks_gpu(facts: Mapping[str, Any]) -> str:
    """Why nothing can be measured on a GPU here, or an empty text.

    :param facts: of `describe`
    """
    if facts["cards"]:
        return ""
    if facts["cuda"] is None:
        return f"no GPU: torch {facts['torch']} was built without CUDA. Use a torch for CUDA, or rehearse with --small."
    return (
        f"no GPU: torch {facts['torch']} was built for CUDA {facts['cuda']} and finds no card that its driver serves. "
        "Compare nvidia-smi, or rehearse with --small."
    )


def differences(manifest: Mapping[str, Any], facts: Mapping[str, Any]) -> list[str]:
    """Sentences on the versions that are not those that the tests pass with.

    :param manifest: of the bundle, with `versions`
    """
    pairs = [
        (name, wanted, facts.get(name)) for name, wanted in manifest.get("versions", {}).items()
    ]
    return [
        f"{name} is {there or 'missing'} here; the tests pass with {wanted}"
        for name, wanted, there in pairs
        if str(there).partition("+")[0] != wanted
    ]


def slug(card: str) -> str:
    """The name of a card in file names.

    >>> slug("NVIDIA H100 80GB HBM3")
    'nvidia-h100-80gb-hbm3'
    """
    return re.sub(r"[^a-z0-9]+", "-", card.lower()).strip("-")
