"""One training step alone: as the loop computes it, with bf16 working weights, and as a recorded graph.

All variants of an encoder and shape run in one process, in turn, in three rounds, and the figure is the median: a
difference between two calls of one table was once larger than the one that it was to show.
"""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch

from benchmarks.device.cells import Cell, Context, Figures
from benchmarks.device.measure_launches import MEMORY, WorkingWeights
from benchmarks.device.static_step import StaticStep
from blurb.heads._base import Problem
from blurb.heads.linear import Linear
from blurb.training.batches import Batch
from blurb.training.network import Network, use_masks_without_waiting

SHAPES = ((16, 40), (32, 40), (32, 128))
VARIANTS = ("loop", "working weights", "graph", "graph, working weights")
ROUNDS, STEPS = 3, 20
COLUMNS = ("encoder", "inputs", "length", *VARIANTS)
NOTE = (
    "Forward, loss, backward, clipping and AdamW on random inputs under bf16, with dropout. `loop` is the step of "
    "the loop of blurb. Milliseconds, and in brackets how many times faster than it: medians of 20 steps in three "
    "rounds, the variants in turn."
)


def network_like(encoder: Any, device: str) -> Network:
    """A network for tags over a copy of an encoder, whose encoder alone runs under autocast."""
    encoder = copy.deepcopy(encoder)
    network = Network(
        encoder,
        None,
        Linear(encoder.config.hidden_size, Problem("tokens", ("O", "B", "I")), 0.1),
        False,
    )
    network.to(device).train()
    if device != "cpu":
        use_masks_without_waiting(network)
    # The cache of casts must be off while a graph is recorded: it would keep tensors of the recording.
    network.autocast = torch.autocast(device, torch.bfloat16, cache_enabled=False)
    return network


def random_batch(vocabulary: int, rows: int, pieces: int) -> Batch:
    """Words of one sub-token, without padding."""
    torch.manual_seed(0)
    places = torch.arange(pieces).repeat(rows, 1)
    ids, targets = torch.randint(5, vocabulary, (rows, pieces)), torch.randint(0, 3, (rows, pieces))
    ones = torch.ones_like(ids)
    return Batch(ids, ones, None, places, ones.bool(), targets, word_ends=places + 1)


class Variant:
    """A way to make a step; calling it makes one and waits for the card."""

    def __init__(self, name: str, network: Network, batch: Batch, device: str) -> None:
        self.network, self.batch, self.device = network, batch, device
        self.weights = WorkingWeights(network.encoder) if "working" in name else None
        own = (
            [*self.weights.parameters, *network.head.parameters()]
            if self.weights
            else [*network.parameters()]
        )
        self.parameters = own
        self.optimizer = torch.optim.AdamW(own, lr=1e-5, fused=True)
        self.static = (
            StaticStep(network, batch.to(torch.device(device))) if "graph" in name else None
        )

    def __call__(self) -> None:
        if self.static:
            self.static(self.batch, self.batch.ids.numel())
        else:
            (
                self.network.loss(self.batch.to(torch.device(self.device))) / self.batch.ids.numel()
            ).backward()
        if self.weights:
            self.weights.gradients()
        torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.optimizer.step()
        if self.weights:
            self.weights.publish()
        self.optimizer.zero_grad(set_to_none=self.static is None)
        if self.weights and not self.static:
            self.weights.forget()
        if self.device == "cuda":
            torch.cuda.synchronize()


def cells(context: Context) -> Iterator[Cell]:
    """A cell has all variants of an encoder and shape."""
    for model in MEMORY:
        for rows, pieces in context.pick(SHAPES, ((2, 8),)):
            measured = partial(_measure, context, model, rows, pieces)
            yield Cell(f"{model}, {rows}, {pieces}", measured, context.pick(2 * MEMORY[model], 0.0))


def _measure(context: Context, model: str, rows: int, pieces: int) -> Figures:
    from blurb.checkpoints import Checkpoint

    torch.set_num_threads(1)
    encoder, _ = Checkpoint(context.model(model)).load_encoder()
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    batch = random_batch(encoder.config.vocab_size, rows, pieces)
    variants = {
        name: Variant(name, network_like(encoder, context.device), batch, context.device)
        for name in VARIANTS
    }
    found = interleaved(variants, context.pick(ROUNDS, 1), context.pick(STEPS, 2))
    return {name: [1e3 * each for each in seconds] for name, seconds in found.items()}


def interleaved(
    variants: Mapping[str, Callable[[], None]], rounds: int, steps: int
) -> dict[str, list[float]]:
    """Name -> the median seconds of a step in each round, the variants in turn."""
    found: dict[str, list[float]] = {name: [] for name in variants}
    for step in variants.values():
        for _ in range(5):
            step()
    for _ in range(rounds):
        for name, step in variants.items():
            times = []
            for _ in range(steps):
                begun = time.perf_counter()
                step()
                times.append(time.perf_counter() - begun)
            found[name].append(statistics.median(times))
    return found


def rows(found: Mapping[str, Figures]) -> Sequence[Sequence[str]]:
    """A line a shape: for each variant its step and, behind the first, how many times faster it is."""
    table = []
    for cell, variants in found.items():
        steps = [statistics.median(variants[name]) for name in VARIANTS if name in variants]
        others = [f"{step:.2f} ({steps[0] / step:.2f})" for step in steps[1:]]
        table.append((*cell.split(", "), f"{steps[0]:.2f}", *others))
    return table
