"""The memory that a trial needs at its peak, from the sizes of its encoder and of its largest batch."""

from __future__ import annotations

from blurb import formulations, tasks
from blurb.execution.job import Job

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
