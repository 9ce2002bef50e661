"""About the memory that trials need, from the sizes of their encoders; nothing is run."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator
from dataclasses import replace

from blurb import formulations, tasks
from blurb.execution.environment import gpus_for
from blurb.execution.estimate import Estimate
from blurb.execution.job import Job
from blurb.messages import format_size, opt

TRAINED = 16
"""Bytes of a parameter that learns: weight, gradient and AdamW's two moments, in float32."""


def trial_memory(job: Job, longest: int = 0) -> float:
    """Bytes of weights and of the largest batch, beside those of the libraries; 0 without an encoder.

    :param longest: sub-tokens of the longest input; 0 counts no batch, which gives what is needed at least
    """
    if not job.learner.reads_checkpoint:
        return 0.0
    settings = formulations.bind(tasks.load(job.data.task), job.trial.settings).settings
    if not job.learner.backward:
        return 4.0 * job.source.parameters
    half = job.trial.precision == "bf16"
    weight = TRAINED
    if settings.adapter != "off":  # what learns is small; frozen weights stay in their own type
        weight = 2 if half and job.source.checkpoint.weights.dtype == "bfloat16" else 4
    if not longest:
        return float(weight * job.source.parameters)
    shape = job.source.checkpoint.size
    # 34 + 5 length / 64 bytes for each value of a layer's input in half precision, with heads of 64 values:
    # Korthikanti et al. (arXiv 2205.05198), section 4.1. Twice that in float32.
    layer = settings.batch_size * longest * shape.hidden * (34 + 5 * longest / 64) * (2 - half)
    layers = 1 if job.checkpointing == "on" else max(1, shape.layers)
    return weight * job.source.parameters + layers * layer


def lacking_memory(expected: Estimate) -> Iterator[str]:
    """Sentences on the memory that the largest trials need together and this machine, or a GPU of it, lacks."""
    import torch

    from blurb.training.hardware import choose_device

    places = {trial.job.place for trial in expected.waiting}
    gpu = {place for place in places if choose_device(place).type == "cuda"}
    on_gpu = [trial for trial in expected.waiting if trial.job.place in gpu]
    others = replace(
        expected, trials=[trial for trial in expected.waiting if trial.job.place not in gpu]
    )
    with contextlib.suppress(OSError, ValueError, AttributeError):  # not every system tells
        present = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if others.memory > present:
            yield f"This machine has only {format_size(present)} of memory; reduce {opt('jobs')} or the batch size."
    if not on_gpu:
        return
    gpus = gpus_for([trial.job for trial in on_gpu]) or [on_gpu[0].job.place]
    together = math.ceil(expected.jobs / len(gpus))
    needed = sum(sorted((trial.memory for trial in on_gpu), reverse=True)[:together])
    present = min(torch.cuda.get_device_properties(gpu).total_memory for gpu in gpus)
    if needed > present:
        yield (
            f"The largest trials need {format_size(needed)} of a GPU at a time, which has {format_size(present)}; "
            f"reduce {opt('jobs')} or the batch size."
        )
