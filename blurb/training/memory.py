"""Releases memory of the process on CPUs."""

from __future__ import annotations

import ctypes
import sys


def trim_heap() -> None:
    """Returns freed memory to the system after a trial; otherwise a worker keeps its peak memory (glibc)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
