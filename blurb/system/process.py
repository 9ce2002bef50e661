"""This process: its garbage collection, its memory, and the variables of a launcher of trainings.

A trial is one process, whatever launched it (torchrun, accelerate, MPI): accelerate would join the process group of
the training, or take its accumulation of gradients, which no hash has. Variables of a scheduler (`SLURM_JOB_ID`), of
devices and of threads stay.
"""

from __future__ import annotations

import ctypes
import gc
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_disabled() -> Iterator[None]:
    """Turns garbage collection off: if very many new objects all stay, it would go through them in vain."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def own_process() -> None:
    """Marks this process as a command or a worker of blurb's, whose objects may stay until its end."""
    _own.append(True)


def freeze_gc() -> None:
    """Excludes all current objects from later collections, once per process: libraries are a million objects, in which
    a collection finds nothing in a fifth of a second. Call it when these objects stay until the end. Does nothing in a
    process of somebody else, whose objects in cycles would stay for ever."""
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


VARIABLES = re.compile(
    r"(LOCAL_|NODE_|GROUP_|ROLE_|CROSS_)?(RANK|WORLD_SIZE)|ROLE_NAME|MASTER_(ADDR|PORT)"
    r"|(TORCHELASTIC|ACCELERATE|FSDP|PARALLELISM_CONFIG|PMI|PMIX|OMPI|MV2|MPI)_\w+"
)
"""Variables that say which of many processes this one is, or how all of them train."""
RECORDED = re.compile(
    r"SLURM_(JOB_ID|ARRAY_(JOB|TASK)_ID)|[A-Z]+_VISIBLE_DEVICES|(OMP|MKL|OPENBLAS)_NUM_THREADS"
)
"""Variables that may change time and rounding, for the provenance."""


def launcher_free_environment() -> dict[str, str]:
    """The environment without the variables of a launcher."""
    return {name: value for name, value in os.environ.items() if not VARIABLES.fullmatch(name)}


def recorded_variables() -> dict[str, str]:
    """The variables that belong to the provenance of a trial."""
    return {name: value for name, value in sorted(os.environ.items()) if RECORDED.fullmatch(name)}


@contextmanager
def one_process() -> Iterator[None]:
    """Removes the variables of a launcher for the block, also for processes that it starts."""
    launched = os.environ.keys() - launcher_free_environment()
    taken = {name: os.environ.pop(name) for name in launched}
    try:
        yield
    finally:
        os.environ.update(taken)
