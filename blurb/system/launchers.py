"""What a launcher of trainings (torchrun, accelerate, MPI) puts into the environment, which no trial may read.

A trial is one process, whatever launched it: accelerate would join the process group of the training, or take its
accumulation of gradients, which no hash has. What a scheduler says (`SLURM_JOB_ID`), devices and threads stay.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

VARIABLES = re.compile(
    r"(LOCAL_|NODE_|GROUP_|ROLE_|CROSS_)?(RANK|WORLD_SIZE)|ROLE_NAME|MASTER_(ADDR|PORT)"
    r"|(TORCHELASTIC|ACCELERATE|FSDP|PARALLELISM_CONFIG|PMI|PMIX|OMPI|MV2|MPI)_\w+"
)
"""Names that say which of many processes this one is, or how all of them train."""
TOLD = re.compile(r"SLURM_(JOB_ID|ARRAY_(JOB|TASK)_ID)|[A-Z]+_VISIBLE_DEVICES|(OMP|MKL|OPENBLAS)_NUM_THREADS")
"""Names of what may change time and rounding, for the provenance."""


def alone() -> dict[str, str]:
    """The environment of a process that is none of many."""
    return {name: value for name, value in os.environ.items() if not VARIABLES.fullmatch(name)}


def told() -> dict[str, str]:
    """The variables that belong to the provenance of a trial."""
    return {name: value for name, value in sorted(os.environ.items()) if TOLD.fullmatch(name)}


@contextmanager
def one_process() -> Iterator[None]:
    """While it lasts, this process and those that it starts are none of many."""
    taken = {name: value for name, value in os.environ.items() if VARIABLES.fullmatch(name)}
    for name in taken:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(taken)
