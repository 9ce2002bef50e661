"""How the C library keeps memory on CPUs.

glibc takes every tensor above 32 MiB fresh from the system and returns it at once, and fresh memory must be mapped page
by page: of a training step on inputs of 512 sub-tokens (MiniLM, batch 16, one thread) this was two fifths.
"""

from __future__ import annotations

import ctypes
import sys

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # names of mallopt's parameters in malloc.h
MOST = 2**30


def keep_freed() -> bool:
    """Asks the C library to reuse freed memory for large tensors; False where that is not possible (not glibc)."""
    mallopt = _function("mallopt")
    return mallopt is not None and bool(mallopt(MMAP_THRESHOLD, MOST)) and bool(mallopt(TRIM_THRESHOLD, 2 * MOST - 1))


def give_back() -> None:
    """Returns what is free to the system, for after a trial."""
    trim = _function("malloc_trim")
    if trim is not None:
        trim(0)


def _function(name: str) -> ctypes._NamedFuncPointer | None:
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
