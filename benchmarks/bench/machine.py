"""What a figure was measured on, in words that name no machine."""

from __future__ import annotations

import os
import platform
import resource
from importlib.metadata import version
from pathlib import Path

LIBRARIES = ("torch", "transformers", "tokenizers", "datasets", "numpy", "scikit-learn")
FLAGS = {"amx_bf16": "AMX", "avx512_bf16": "AVX-512 bf16", "avx512f": "AVX-512", "avx2": "AVX2"}
"""What decides how fast bf16 products are, the best first."""


def describe() -> dict[str, object]:
    """Processor, its instructions, cores, memory, threads and versions."""
    import torch

    text = (
        Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").is_file() else ""
    )
    facts = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    facts = {key.strip(): value.strip() for key, value in facts.items()}
    flags = facts.get("flags", "").split()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    return {
        "processor": facts.get("model name") or platform.processor() or platform.machine(),
        "instructions": next((name for flag, name in FLAGS.items() if flag in flags), "unknown"),
        "cores": os.cpu_count(),
        "memory GiB": round(memory),
        "gpu": gpu,
        "threads": torch.get_num_threads(),
        "load before": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }


def peak_memory() -> float:
    """MiB that this process took at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
