"""Measures the rates of an encoder: seconds for a small one, some ten for one of MiniLM's size."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import math
import os
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from blurb.checkpoints import ModelSource
from blurb.cost import throughput
from blurb.cost.model import Estimate
from blurb.cost.throughput import Rates
from blurb.execution.environment import gpus_for
from blurb.heads import heads, poolings
from blurb.heads._base import Problem
from blurb.inputs.features import Features, Ragged
from blurb.inputs.texts import encode_texts
from blurb.learners.finetuning import adapters
from blurb.messages import format_size, opt
from blurb.protocols.settings import Settings
from blurb.system.process import trim_heap
from blurb.training.batches import collate_batch
from blurb.training.hardware import Precision, choose_device, seed_everything
from blurb.training.loop import Trainer
from blurb.training.network import Network, train_used_rows

clock = time.perf_counter
"""The clock; `benchmarks/estimates.py` uses process time instead, as other work may run on the machine."""
STEP = 1.0
"""Maximum seconds per measured step: large encoders are measured on small batches."""
SUBTOKENS = 1_024
"""Sub-tokens of the largest measured batch."""
MEASURED = 3
"""Number of measured steps, of which the median counts, after one warm-up step."""
SETTINGS: Mapping[str, Any] = {"lr": 1e-6, "epochs": 1, "select": "last", "max_length": 512}


def rates_of(
    source: ModelSource,
    device: str,
    precision: str,
    threads: int | None,
    lengths: Sequence[int],
    adapter: Settings | None = None,
) -> Rates:
    """The rates of an encoder at the given lengths, from the cache or measured now.

    :param threads: threads of the process that will train; None for those of this process
    :param lengths: lengths of the grid (`rates.needed`); inputs never exceed what fits the encoder
    :param adapter: settings of the adapter that learns in the place of the encoder
    """
    shape = source.checkpoint.size
    lengths = sorted({min(length, shape.most or length) for length in lengths})
    with _threads(threads):
        name = throughput.key(
            source.location,
            shape,
            str(choose_device(device)),
            precision,
            torch.get_num_threads(),
            adapter,
        )
        known = throughput.read(name, shape)
        missing = [length for length in lengths if known is None or length not in known.train]
        if known is None or missing:
            try:
                known = _measure(source, device, precision, known, missing, adapter)
            finally:
                gc.collect()  # the encoder is in a cycle of references, as a learner is
                trim_heap()
            throughput.write(name, known)
    return known


@contextlib.contextmanager
def _threads(count: int | None) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Calibrator:
    """An encoder with a linear head in the training loop of a trial, and inputs of any size.

    :ivar load: seconds that loading took
    """

    def __init__(
        self,
        source: ModelSource,
        device: str,
        precision: Precision,
        adapter: Settings | None = None,
    ) -> None:
        seed_everything(0)  # the trials ask for deterministic kernels, too
        tokenizer = source.checkpoint.tokenizer
        start = clock()
        encoder, _ = source.checkpoint.load_encoder(adapter is not None and precision == "bf16")
        if adapter is not None:
            adapters.inject(encoder, adapter)
        self.load = clock() - start
        if getattr(encoder, "pooler", None) is not None:
            encoder.pooler = None
        size = source.checkpoint.width
        head = heads.get("linear")(size, Problem("single", ("no", "yes"), None), 0.1)
        network = Network(encoder, poolings.get("mean")(size, None), head, False)
        self.device = choose_device(device)
        self.trainer = Trainer(network, tokenizer.pad_id, self.device, precision, self._stepped)
        rows = encoder.get_input_embeddings().num_embeddings
        self.ids = np.setdiff1d(
            np.arange(min(rows, 5_000)), [tokenizer.pad_id]
        )  # as many as a small corpus uses
        # As the loop does with the ids of a corpus; once for all fits that follow.
        if adapter is None:
            train_used_rows(
                encoder, torch.from_numpy(np.union1d(self.ids, [tokenizer.pad_id])).to(self.device)
            )
        self.token_type_ids = encode_texts(["a"], tokenizer, 8).token_type_ids is not None
        self.times: list[float] = []

    def _stepped(self, done: int, total: int) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        self.times.append(clock())

    def features(self, inputs: int, length: int) -> Features:
        """Inputs of one length, all with the same ids."""
        ids = np.resize(self.ids, (max(inputs, -(-len(self.ids) // length)), length))[:inputs]
        zeros = Ragged.of(np.zeros_like(ids)) if self.token_type_ids else None
        return Features(Ragged.of(ids), np.arange(inputs), zeros)

    def train(self, inputs: int, length: int) -> float:
        """Seconds of an optimizer step."""
        self.times.clear()
        settings = Settings(**{**SETTINGS, "batch_size": inputs})
        count = inputs * (1 + MEASURED)
        self.trainer.fit(
            self.features(count, length), np.zeros(count, dtype=np.int64), settings, 0, lambda: 0.0
        )
        return statistics.median(np.diff(self.times).tolist())

    def predict(self, inputs: int, length: int) -> float:
        """Seconds of a pass without gradients."""
        features = self.features(inputs, length)
        taken = []
        for _ in range(2):  # the first one warms up
            start = clock()
            self.trainer.predict(features)
            taken.append(clock() - start)
        return min(taken)

    def kept(self, length: int) -> int:
        """Bytes that the backward pass of one input needs beside the weights."""
        own = {parameter.data_ptr() for parameter in self.trainer.network.parameters()}
        seen: dict[int, int] = {}

        def pack(tensor: Tensor) -> Tensor:
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in own:
                seen[storage.data_ptr()] = storage.nbytes()
            return tensor

        self.trainer.network.train()
        targets = np.zeros(2, dtype=np.int64)
        sums = []
        for inputs in (
            1,
            2,
        ):  # what does not grow with the inputs (weights in half precision) is no part of it
            seen.clear()
            batch = collate_batch(
                self.features(inputs, length), np.arange(inputs), self.trainer.pad_id, targets
            )
            with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
                loss = self.trainer.network.loss(batch.to(self.device))
            sums.append(sum(seen.values()))
            del loss
        return sums[1] - sums[0]


def _measure(
    source: ModelSource,
    device: str,
    precision: Any,
    known: Rates | None,
    lengths: Sequence[int],
    adapter: Settings | None = None,
) -> Rates:
    """The known rates and those at the given lengths."""
    calibrator = Calibrator(source, device, precision, adapter)
    shape = source.checkpoint.size
    short = min(32, shape.most or 32)
    if known is None:
        fixed, whole = _fixed(calibrator, short)
        known = Rates(shape, calibrator.load, fixed)
    else:
        fixed, whole = (
            known.fixed,
            known.fixed + 3 * shape.forward(16, short) / min(known.train.values()),
        )
    piece = (whole - fixed) / (16 * short)  # seconds of a sub-token of a short input
    train, predict, kept = dict(known.train), dict(known.predict), dict(known.kept)
    for length in lengths:
        room = min(SUBTOKENS, STEP / piece)
        inputs = (
            max(1, int(room) // length) if length != short else max(4, min(16, int(room) // length))
        )
        train[length] = (
            3 * shape.forward(inputs, length) / max(calibrator.train(inputs, length) - fixed, 1e-6)
        )
        inputs = max(1, int(min(2_048, 4 * room)) // length)
        predict[length] = shape.forward(inputs, length) / calibrator.predict(inputs, length)
        kept[length] = calibrator.kept(length)
    return dataclasses.replace(known, train=train, predict=predict, kept=kept)


def _fixed(calibrator: Calibrator, short: int) -> tuple[float, float]:
    """Fixed seconds per step, and seconds of a step on 16 short inputs, from a line through two batch sizes."""
    few, many = 2, 8
    low, high = calibrator.train(few, short), calibrator.train(many, short)
    each = max((high - low) / (many - few), 0.05 * high / many)
    fixed = max(0.0, min(low, low - few * each))
    return fixed, fixed + 16 * each


def lacking_memory(expected: Estimate) -> Iterator[str]:
    """Sentences on the memory that the largest trials need together and this machine, or a GPU of it, lacks."""
    gpu = {
        place
        for place in {one.job.place for one in expected.waiting}
        if choose_device(place).type == "cuda"
    }
    on_gpu = [one for one in expected.waiting if one.job.place in gpu]
    elsewhere = replace(
        expected, trials=[one for one in expected.waiting if one.job.place not in gpu]
    )
    with contextlib.suppress(OSError, ValueError, AttributeError):  # not every system tells
        there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if elsewhere.memory > there:
            yield f"This machine has only {format_size(there)} of memory; reduce {opt('jobs')} or the batch size."
    if on_gpu:
        yield from _gpu_notes(replace(expected, trials=on_gpu))


def _gpu_notes(found: Estimate) -> Iterator[str]:
    gpus = gpus_for([one.job for one in found.waiting]) or [found.waiting[0].job.place]
    together = math.ceil(found.jobs / len(gpus))
    needed = sum(sorted((one.cost.memory for one in found.waiting), reverse=True)[:together])
    there = min(torch.cuda.get_device_properties(gpu).total_memory for gpu in gpus)
    if needed > there:
        yield (
            f"The largest trials need {format_size(needed)} of a GPU at a time, which has {format_size(there)}; reduce "
            f"{opt('jobs')} or "
            "the batch size."
        )
