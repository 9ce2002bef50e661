"""Whether this machine has the memory that trials are predicted to need, as far as the system tells."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator
from dataclasses import replace

import torch

from blurb.cost.model import Estimate
from blurb.execution.environment import gpus_for
from blurb.messages.spelling import opt
from blurb.messages.text import size
from blurb.training.hardware import choose_device


def memory(expected: Estimate) -> Iterator[str]:
    """Sentences on the memory that the largest trials need together and this machine, or a GPU of it, lacks."""
    gpu = {place for place in {one.job.place for one in expected.waiting} if choose_device(place).type == "cuda"}
    on_gpu = [one for one in expected.waiting if one.job.place in gpu]
    elsewhere = replace(expected, trials=[one for one in expected.waiting if one.job.place not in gpu])
    with contextlib.suppress(OSError, ValueError, AttributeError):  # not every system tells
        there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if elsewhere.memory > there:
            yield f"This machine has only {size(there)} of memory; reduce {opt('jobs')} or the batch size."
    if on_gpu:
        yield from _of_gpus(replace(expected, trials=on_gpu))


def _of_gpus(found: Estimate) -> Iterator[str]:
    gpus = gpus_for([one.job for one in found.waiting]) or [found.waiting[0].job.place]
    together = math.ceil(found.jobs / len(gpus))
    needed = sum(sorted((one.cost.memory for one in found.waiting), reverse=True)[:together])
    there = min(torch.cuda.get_device_properties(gpu).total_memory for gpu in gpus)
    if needed > there:
        yield (
            f"The largest trials need {size(needed)} of a GPU at a time, which has {size(there)}; reduce "
            f"{opt('jobs')} or "
            "the batch size."
        )
