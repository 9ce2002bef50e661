"""The software and hardware of a trial: stored with it, never part of its hash."""

from __future__ import annotations

import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import blurb
from blurb.execution import engines
from blurb.system import launchers

PACKAGES = ("torch", "transformers", "tokenizers", "accelerate", "datasets", "numpy", "scikit-learn")


def environment(device: str) -> dict[str, Any]:
    """Versions, device, threads and commit; threads as they are now, as a notebook may change them between trials."""
    import torch

    from blurb.training.hardware import choose_device

    chosen = choose_device(device)
    gpu = torch.cuda.get_device_name(chosen) if chosen.type == "cuda" else None
    return {
        "blurb": blurb.__version__,
        "python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
        "platform": f"{platform.system()} {platform.machine()}",
        "device": gpu or chosen.type,
        "cpus": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "variables": launchers.told(),
        "engine": engines.of_this_process(),
        "commit": _commit(),
    }


@cache
def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


@cache
def _commit() -> str | None:
    """Commit of blurb if it runs from a checkout, with `+` if files have uncommitted changes."""
    top = Path(blurb.__file__).parents[1]
    if not (top / ".git").exists():
        return None
    try:
        commit = subprocess.run(["git", "-C", top, "rev-parse", "HEAD"], capture_output=True, text=True, timeout=5)
        changed = subprocess.run(
            ["git", "-C", top, "status", "--porcelain", "--untracked-files=no", "--", "blurb"],
            capture_output=True,
            text=True,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if commit.returncode:  # git prints the name that it could not resolve: "HEAD", of a repository without a commit
        return None
    return commit.stdout.strip() + ("+" if changed.stdout.strip() else "")
