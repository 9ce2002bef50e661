"""How far a training is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn

Weights = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Epoch:
    """One row of `history.csv`; `dev` is the task's metric (None if it was not computed)."""

    epoch: int
    loss: float
    learning_rate: float
    dev: float | None


@dataclass(frozen=True)
class Best:
    """The best epoch so far.

    :param score: its metric on dev
    :param weights: of the network, on the CPU
    """

    epoch: int
    score: float
    weights: Weights


@dataclass
class LoopState:
    """All that the next step depends on, beside the network, the optimizer and the global random generators.

    :param rng: draws the batches
    :param order: state of `rng` at the beginning of the epoch at hand
    :param begun: steps done before that epoch
    :param losses: of its steps so far
    """

    rng: np.random.Generator
    order: dict[str, Any] = field(init=False)
    begun: int = 0
    losses: list[torch.Tensor] = field(default_factory=list)
    history: list[Epoch] = field(default_factory=list)
    best: Best | None = None

    def __post_init__(self) -> None:
        self.order = dict(self.rng.bit_generator.state)

    @property
    def done(self) -> int:
        """Steps done."""
        return self.begun + len(self.losses)

    def is_better(self, score: float) -> bool:
        """Whether the score is higher than those of all epochs before; the first of equals is the best."""
        return self.best is None or score > self.best.score

    def end_epoch(self, epoch: Epoch, weights: Weights | None) -> None:
        """Takes note of an epoch.

        :param weights: of the network, if the epoch is the best so far
        """
        self.history.append(epoch)
        if weights is not None and epoch.dev is not None:
            self.best = Best(epoch.epoch, epoch.dev, weights)
        self.begun, self.losses = self.done, []
        self.order = dict(self.rng.bit_generator.state)


def weights_of(network: nn.Module) -> Weights:
    """A copy of all weights on the CPU."""
    return {name: value.detach().to("cpu", copy=True) for name, value in network.state_dict().items()}
