"""The work of a trial in sub-tokens, the seconds of one step on this machine, and about the memory that it needs."""

from __future__ import annotations

import contextlib
import gc
import math
import os
import time
import timeit
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch

from blurb import formulations, learners, tasks
from blurb.data.schema import Example
from blurb.execution.data_sources import load_data
from blurb.execution.environment import gpus_for
from blurb.execution.estimate import Estimate
from blurb.execution.job import Job, units_and_cache_key
from blurb.inputs.features import Ints
from blurb.learners import building
from blurb.learners.base import Subset
from blurb.messages import format_size, opt
from blurb.protocols.settings import Settings, example_limits
from blurb.system.process import trim_heap
from blurb.training.batches import training_batches
from blurb.training.hardware import choose_device
from blurb.training.optimizer import layers

clock = time.perf_counter
computed = time.process_time
SAMPLE = 256
"""Examples of a split that are tokenised: their mean length is then known to about 3 %."""
INPUTS = 4
"""Inputs of the timed step of an encoder. On a GPU, and for small networks, it has a whole batch: four inputs take as
long there as sixteen."""


@dataclass(frozen=True)
class SplitSample:
    """Evenly spread examples of a split.

    :param units: number of examples of the whole split
    :param lengths: (rows,) sub-tokens of each input; a fifth of its characters for learners without sub-tokens
    :param index: (rows,) its example in the sample; long ones have several inputs
    """

    units: int
    sample: list[Example]
    lengths: Ints
    index: Ints

    def used(self, most: int) -> Ints:
        """The lengths of the inputs of at most so many examples (0: all), as the sample repeats."""
        units = min(self.units, most or self.units)
        return np.resize(self.lengths, round(units * len(self.lengths) / len(self.sample)))


def sample_splits(job: Job) -> dict[tasks.Split, SplitSample]:
    """A sample of the inputs of a trial; DataError if a split has none."""
    content = load_data(job.data)
    formulation = formulations.bind(content.task, job.trial.settings)
    units = {split: units_and_cache_key(formulation, content, split)[0] for split in tasks.SPLITS}
    samples = {}
    if job.learner.reads_checkpoint:
        tokenizer = job.source.checkpoint.tokenizer.extended(
            formulation.special_tokens(units["train"])
        )
        longest = formulation.settings.max_length
        limit = min(longest, job.source.checkpoint.size.most or longest)
    for split, rows in units.items():
        places = np.linspace(0, len(rows), min(SAMPLE, len(rows)), endpoint=False).astype(int)
        sample = [rows[place] for place in places]
        lengths = np.array([len(str(row)) // 5 for row in sample])
        index = np.arange(len(sample))
        if job.learner.reads_checkpoint:
            features = formulation.features(sample, tokenizer, limit)  # type: ignore[possibly-undefined]
            lengths, index = features.ids.lengths, features.example_index
        samples[split] = SplitSample(len(rows), sample, lengths, index)
    return samples


class Work(NamedTuple):
    """What a trial computes.

    :param trained: sub-tokens of the batches of all updates, padding included
    :param read: sub-tokens of passes without gradients
    """

    trained: float
    read: float

    @property
    def passes(self) -> float:
        """Sub-tokens of forward passes that take as long; with its backward pass one takes three times as long."""
        return 3 * self.trained + self.read


def count_work(job: Job, splits: Mapping[tasks.Split, SplitSample]) -> Work:
    """The work of a trial: all updates with dev after each epoch, then test; of a frozen encoder every split once."""
    settings = formulations.bind(load_data(job.data).task, job.trial.settings).settings
    train, dev, test = (
        splits[split].used(example_limits(settings, split, 0)[0]) for split in tasks.SPLITS
    )
    if not job.learner.backward:
        return Work(0, float(train.sum() + dev.sum() + test.sum()))
    batches = training_batches(train, settings.batch_size, np.random.default_rng(0))
    padded = sum(len(rows) * int(train[rows].max()) for rows in batches)
    updates = len(batches) * settings.epochs
    if settings.max_updates:
        updates = min(updates, settings.max_updates)
    looks = math.ceil(updates / len(batches)) if settings.select == "best" else 1
    sampled = min(1.0, settings.dev_sample / len(dev)) if settings.dev_sample else 1.0
    # Dev is read whole at the end only if epochs were chosen on a sample of it.
    read = float(dev.sum()) * (looks * sampled + (sampled < 1)) + float(test.sum())
    if settings.head_init == "linear":
        read += float(train.sum())
    return Work(padded * updates / len(batches), read)


class TimedStep(NamedTuple):
    """Seconds of a trial's start, and of a sub-token that is trained on, or only read."""

    start: float
    trained: float
    read: float


def _step_settings(job: Job, on_gpu: bool) -> Settings:
    """The settings of a trial, for one update alone.

    Layers of a frozen encoder stay frozen: with gradients and moments it might not fit into memory.
    """
    kind = job.learner
    own = formulations.bind(load_data(job.data).task, job.trial.settings).settings
    settings = replace(
        own,
        batch_size=INPUTS if kind.reads_checkpoint and not on_gpu else own.batch_size,
        dev_sample=0,
        epochs=1,
        max_updates=0,
        select="last",
        head_init="random",
    )
    if not kind.backward:
        settings = replace(settings, pooling="mean")  # T5 has no [CLS]
        depth = len(layers(job.source.checkpoint.outline))
        if depth == job.source.checkpoint.size.layers:  # ALBERT's layers are one
            settings = replace(settings, freeze_layers=depth)
    return settings


def time_step(job: Job, train: SplitSample, threads: int) -> TimedStep:
    """Times steps and passes of inputs of the median length in the trial's own loop, after one that warms up."""
    task, kind = load_data(job.data).task, job.learner
    device = choose_device(job.place).type
    on_gpu = device == "cuda"
    settings = _step_settings(job, on_gpu)
    inputs = settings.batch_size
    median = float(np.median(train.lengths))
    near = train.index[np.argsort(np.abs(train.lengths - median), kind="stable")]
    chosen = [train.sample[place] for place in np.resize(near, inputs)]
    learner: Any = building.learner(
        job.source,
        formulations.bind(task, settings),
        job.device,
        job.trial.precision,
        learners.DEFAULT.name if kind.reads_checkpoint else "",
    )
    learner.checkpointing = job.checkpointing
    marks, before = [clock()], torch.get_num_threads()

    def train_step() -> None:
        features = learner.formulation.features(chosen, learner.tokenizer, learner.limit)
        targets = learner.formulation.targets(chosen)
        # Without the update: of four inputs it takes as long as of a batch, and would be scaled with them.
        learner.trainer.add_gradients(features, np.arange(inputs), targets, inputs)
        if on_gpu:
            torch.cuda.synchronize()

    def fastest(step: Callable[[], object]) -> float:
        seconds = timeit.repeat(step, timer=clock, number=1, repeat=2)
        if device == "cpu":
            # On a busy machine threads wait for each other, at times for ten times as long. One waits for none.
            torch.set_num_threads(1)
            seconds.append(timeit.timeit(step, timer=computed, number=1))
            torch.set_num_threads(threads)
        return min(seconds)

    trained = 0.0
    try:
        torch.set_num_threads(threads)
        learner.fit(Subset(chosen, ""), Subset(chosen, ""), 0, lambda *_: marks.append(clock()))
        marks.append(clock())  # a fit without steps has told nothing
        if kind.backward:
            learner.trainer.network.train()
            trained = fastest(train_step)
        read = fastest(lambda: learner.predict(Subset(chosen, "")))
    finally:
        torch.set_num_threads(before)
        learner = None
        gc.collect()  # a learner refers to itself; its weights would wait for a chance collection
        trim_heap()
    tokens = median * inputs
    return TimedStep(marks[1] - marks[0], trained / tokens, read / tokens)


def lacking_memory(expected: Estimate) -> Iterator[str]:
    """Sentences on the memory that the largest trials need together and this machine, or a GPU of it, lacks."""
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
