"""One training step on buffers that stay, so that a card can record it once and replay it.

Forward pass, loss and backward pass are recorded as one graph (`torch.cuda.graph`); clipping and the optimizer stay
outside. `torch.cuda.make_graphed_callables` is not used: it returns gradients in buffers of its own, which later steps
overwrite. On a CPU the same object runs as a plain function, which is what the tests compare with the loop.

A prototype: `recorded_trainer` trains whole trials with it, and says when it becomes the loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import torch
from torch import Tensor

from blurb.inputs.features import Ints
from blurb.training.batches import Batch
from blurb.training.network import Network

MOST_LENGTHS = 8
ALONG_PIECES = ("ids", "mask", "token_type_ids", "word_starts", "word_ends", "word_mask")
"""Fields of a batch that are padded to its length; no input has more words than sub-tokens."""


def best_lengths(longest: Sequence[int], most: int = MOST_LENGTHS) -> list[int]:
    """The lengths to which batches are padded, so that the padded sub-tokens of all batches are fewest.

    :param longest: the longest input of each batch
    :param most: number of lengths

    >>> best_lengths([10, 11, 40, 41], 2)
    [11, 41]
    """
    counted = sorted(Counter(map(int, longest)).items())
    lengths = [length for length, _ in counted]
    totals = np.concatenate([[0], np.cumsum([count for _, count in counted])])
    # costs[k][i]: fewest padded sub-tokens of the i shortest lengths with at most k lengths to pad to
    costs, choices = [np.full(len(lengths) + 1, np.inf)], []
    costs[0][0] = 0
    for _ in range(min(most, len(lengths))):
        cost, choice = costs[-1].copy(), np.arange(len(lengths) + 1)
        for end in range(1, len(lengths) + 1):
            each = costs[-1][:end] + (totals[end] - totals[:end]) * lengths[end - 1]
            if each.min() < cost[end]:
                cost[end], choice[end] = each.min(), int(each.argmin())
        costs.append(cost)
        choices.append(choice)
    chosen, end = [], len(lengths)
    for choice in reversed(choices):
        if choice[end] < end:
            chosen.append(lengths[end - 1])
            end = int(choice[end])
    return chosen[::-1]


def padded(batch: Batch, pieces: int, pad_id: int) -> Batch:
    """A batch whose inputs, and words, are padded to a length; word vectors of padding are never read.

    :param pieces: at least the length of the batch
    """
    filling = {"ids": pad_id, "word_ends": 1}
    moved = {each.name: getattr(batch, each.name) for each in fields(batch)}
    for name in (*ALONG_PIECES, *(["targets"] if batch.word_mask is not None else [])):
        if moved[name] is not None:
            short = pieces - moved[name].shape[1]
            moved[name] = torch.nn.functional.pad(
                moved[name], (0, short), value=filling.get(name, 0)
            )
    return Batch(**moved)


@dataclass
class StaticStep:
    """Gradients of batches of one shape.

    :param network: whose parameters get the gradients
    :param like: a batch of the shape, on the device
    :param pool: memory that graphs share; None on a CPU
    :ivar graph: once recorded
    :ivar loss: of the last call, divided by its number of targets
    """

    network: Network
    like: Batch
    pool: Any = None
    graph: Any = field(default=None, init=False)
    loss: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.inputs = Batch(
            **{name: None if one is None else one.clone() for name, one in vars(self.like).items()}
        )
        self.num_targets = torch.ones((), device=self.like.ids.device)
        self.warm = False

    def __call__(self, batch: Batch, num_targets: int) -> str:
        """Fills the gradients of the network; returns how: "eager", "captured" or "replayed".

        Gradients of an earlier step are overwritten. They must not be replaced: a graph knows their addresses.
        """
        for name, there in vars(self.inputs).items():
            if there is not None:
                there.copy_(getattr(batch, name), non_blocking=True)
        self.num_targets.fill_(max(1, num_targets))
        if self.inputs.ids.device.type == "cpu":
            self.compute()
            return "eager"
        if self.graph is not None:
            self.graph.replay()
            return "replayed"
        if not self.warm:
            self._beside()
            self.warm = True
            return "eager"
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self.pool):
            self.compute()
        self.graph = graph
        graph.replay()  # recording computes nothing
        return "captured"

    def _beside(self) -> None:
        """Once on a stream of its own, as a recording needs: it allocates the gradients and what libraries keep."""
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            self.compute()
        torch.cuda.current_stream().wait_stream(stream)

    def compute(self) -> None:
        """What is recorded: forward pass, loss and backward pass, from the buffers into the gradients."""
        there = [one.grad for one in self.network.parameters() if one.grad is not None]
        if there:
            torch._foreach_zero_(there)
        loss = self.network.loss(self.inputs) / self.num_targets
        loss.backward()  # type: ignore[no-untyped-call]
        self.loss = loss.detach()


class StaticSteps:
    """A step for each length.

    :param lengths: of `best_lengths`; a batch of other rows than `rows`, or longer than all, is computed as it is
    :ivar counts: of "eager", "captured", "replayed" and "other shape"
    """

    def __init__(
        self, network: Network, pad_id: int, rows: int, lengths: Sequence[int], device: torch.device
    ) -> None:
        self.network, self.pad_id, self.rows, self.lengths, self.device = (
            network,
            pad_id,
            rows,
            lengths,
            device,
        )
        self.pool = torch.cuda.graph_pool_handle() if device.type == "cuda" else None
        self.steps: dict[int, StaticStep] = {}
        self.counts: Counter[str] = Counter()

    def __call__(self, batch: Batch, num_targets: int) -> Tensor:
        """Fills the gradients of the network and returns the loss.

        :param batch: on the CPU
        """
        rows, pieces = batch.ids.shape
        length = next((each for each in self.lengths if each >= pieces), None)
        if rows != self.rows or length is None:
            step = StaticStep(self.network, batch.to(self.device))
            step.num_targets.fill_(max(1, num_targets))
            step.compute()
            self.counts["other shape"] += 1
            return step.loss
        batch = padded(batch, length, self.pad_id)
        if length not in self.steps:
            self.steps[length] = StaticStep(self.network, batch.to(self.device), self.pool)
        step = self.steps[length]
        self.counts[step(batch, num_targets)] += 1
        return step.loss.clone()


def batch_lengths(lengths: Ints, batches: Sequence[Ints]) -> list[int]:
    """The longest input of each batch."""
    return [int(lengths[rows].max()) for rows in batches]
