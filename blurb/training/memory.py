"""Memory of the process on CPUs."""

from __future__ import annotations

import ctypes
import sys


def give_back() -> None:
    """Returns freed memory to the system, for after a trial; without it a worker keeps the most it ever had (glibc)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
