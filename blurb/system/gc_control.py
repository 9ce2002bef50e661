"""Garbage collection where it is known to find nothing."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_disabled() -> Iterator[None]:
    """No garbage collection: of very many new objects all stay, and it would go through them in vain."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def own_process() -> None:
    """Says that this process is a command or a worker of blurb's: what it holds is blurb's to leave to the end."""
    _own.append(True)


def freeze_gc() -> None:
    """Leaves what is there now out of later collections, once a process: libraries are a million objects, and of these
    a collection finds nothing in a fifth of a second. To be called when what is held stays to the end. Does nothing in
    a process of somebody else, whose objects in cycles would stay for ever."""
    if _own and not _settled:  # not gc.get_freeze_count(): it counts them one by one
        gc.freeze()
        _settled.append(True)


_own: list[bool] = []
_settled: list[bool] = []


def trim_heap() -> None:
    """Returns freed memory to the system after a trial; otherwise a worker keeps its peak memory (glibc)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
