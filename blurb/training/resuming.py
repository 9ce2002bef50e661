"""Checkpoints of a training, from which it goes on as if it had never stopped: the same bits in an equal environment.

A checkpoint has four files of tensors: `network`, `best` (unless these are the weights of the network), `optimizer`,
and `loop` (losses of the epoch at hand, random generators of torch); the rest is numbers and text for JSON.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from torch import nn

from blurb.system import signals

if TYPE_CHECKING:
    from blurb.training.loop import Trainer

log = logging.getLogger(__name__)


class Checkpoints(Protocol):
    """Where the checkpoints of a training are kept: only the newest is."""

    def read(self) -> tuple[Mapping[str, Weights], dict[str, Any]] | None:
        """Tensors by file and name, and values; None without a checkpoint that is whole and of this training."""

    def write(self, tensors: Mapping[str, Weights], values: Mapping[str, Any]) -> None:
        """Writes a checkpoint; a failure is no error."""

    def set_aside(self, reason: str) -> None:
        """Puts an unusable checkpoint away."""


class Resumption:
    """Goes on from a checkpoint, and writes one after every epoch and between two steps if the process is to end.

    :param state: of a training that begins
    """

    def __init__(
        self, trainer: Trainer, optimizer: torch.optim.Optimizer, state: LoopState
    ) -> None:
        self.trainer, self.optimizer, self.state = trainer, optimizer, state
        # On other devices a training cannot go on as it was.
        self.checkpoints = trainer.checkpoints if trainer.device.type in ("cpu", "cuda") else None
        self.inside_step = False
        self.earlier = 0.0  # seconds before this process
        self.begun = time.perf_counter()

    @contextmanager
    def resumable(self) -> Iterator[None]:
        """Goes on from the checkpoint if there is one; writes one if the block is interrupted between two steps."""
        self._restore()
        try:
            yield
        except BaseException as error:
            if not isinstance(error, Exception) and not self.inside_step and self.state.done:
                self.save()
            raise

    @contextmanager
    def atomic_step(self) -> Iterator[None]:
        """A block that changes network and state together: signals wait for its end."""
        self.inside_step = True
        with nullcontext() if self.checkpoints is None else signals.step():
            yield
            self.inside_step = False

    def save(self) -> None:
        """Writes a checkpoint, if any are kept."""
        if self.checkpoints is None:
            return
        state, trainer = self.state, self.trainer
        is_best = (
            state.best is not None and not state.losses and state.best.epoch == len(state.history)
        )
        tensors = {
            "network": state.best.weights if state.best and is_best else weights_of(trainer.network)
        }
        if state.best is not None and not is_best:
            tensors["best"] = state.best.weights
        moments = self.optimizer.state_dict()["state"]
        tensors["optimizer"] = {
            f"{at}.{name}": value for at, each in moments.items() for name, value in each.items()
        }
        tensors["loop"] = {"torch": torch.get_rng_state()}
        if state.losses:
            tensors["loop"]["losses"] = torch.stack(state.losses)
        if trainer.device.type == "cuda":
            tensors["loop"]["cuda"] = torch.cuda.get_rng_state(trainer.device)
        legacy = np.random.get_state(legacy=False)
        values = {
            "begun": state.begun,
            "history": [asdict(epoch) for epoch in state.history],
            "best": state.best and [state.best.epoch, state.best.score],
            "order": state.order,
            "python": random.getstate(),
            "numpy": {
                **legacy,
                "state": {**legacy["state"], "key": legacy["state"]["key"].tolist()},
            },
            "micro_batch": trainer.micro_batch,
            "scaler": trainer.scaler.state_dict(),
            "seconds": round(self.earlier + time.perf_counter() - self.begun, 2),
        }
        self.checkpoints.write(tensors, values)

    def _restore(self) -> None:
        found = self.checkpoints and self.checkpoints.read()
        if not found or not self.checkpoints:
            return
        tensors, values = found
        if reason := self._misfit(tensors):
            self.checkpoints.set_aside(reason)
            return
        trainer, state = self.trainer, self.state
        restore_weights(trainer.network, tensors["network"])
        self._restore_optimizer(tensors["optimizer"])
        state.begun, state.order = values["begun"], values["order"]
        state.rng.bit_generator.state = state.order
        if "losses" in tensors["loop"]:
            state.losses = list(tensors["loop"]["losses"].to(trainer.device).unbind())
        state.history = [Epoch(**epoch) for epoch in values["history"]]
        if values["best"]:
            epoch, score = values["best"]
            state.best = Best(epoch, score, tensors.get("best", tensors["network"]))
        trainer.micro_batch = values["micro_batch"]
        if trainer.scaler.is_enabled():
            trainer.scaler.load_state_dict(values["scaler"])
        version, numbers, gauss = values["python"]
        random.setstate((version, tuple(numbers), gauss))
        np.random.set_state(values["numpy"])
        torch.set_rng_state(tensors["loop"]["torch"])
        if trainer.device.type == "cuda":
            torch.cuda.set_rng_state(tensors["loop"]["cuda"], trainer.device)
        self.earlier = values["seconds"]
        trainer.resumed = {"step": state.done, "seconds": self.earlier}
        log.info("resumed after step %d, epoch %d", state.done, len(state.history) + 1)

    def _misfit(self, tensors: Mapping[str, Weights]) -> str:
        """Why tensors are not those of this network, or ""; checked first, as restoring half of them would do harm."""
        shapes = {name: value.shape for name, value in changing(self.trainer.network).items()}
        for file in tensors.keys() & {"network", "best"}:
            if {name: value.shape for name, value in tensors[file].items()} != shapes:
                return "its weights are those of another network"
        sizes = {str(at): parameter.shape for at, parameter in enumerate(self._parameters())}
        for name, value in tensors["optimizer"].items():
            if value.ndim and sizes.get(name.partition(".")[0]) != value.shape:
                return "its optimizer is that of another network"
        return ""

    def _parameters(self) -> list[torch.Tensor]:
        """The parameters in the order of the optimizer's state."""
        return [parameter for group in self.optimizer.param_groups for parameter in group["params"]]

    def _restore_optimizer(self, saved: Weights) -> None:
        parameters = self._parameters()
        state: dict[int, Weights] = {}
        for key, value in saved.items():
            at, _, name = key.partition(".")
            # Laid out in memory as the optimizer made it: its kernels read parameters and moments side by side.
            state.setdefault(int(at), {})[name] = (
                torch.empty_like(parameters[int(at)]).copy_(value) if value.ndim else value
            )
        self.optimizer.load_state_dict(
            {"state": state, "param_groups": self.optimizer.state_dict()["param_groups"]}
        )


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
        """Records an epoch.

        :param weights: of the network, if the epoch is the best so far
        """
        self.history.append(epoch)
        if weights is not None and epoch.dev is not None:
            self.best = Best(epoch.epoch, epoch.dev, weights)
        self.begun, self.losses = self.done, []
        self.order = dict(self.rng.bit_generator.state)


def learning_parameters(network: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that are not frozen, by name."""
    return {
        name: each
        for name, each in network.named_parameters(remove_duplicate=False)
        if each.requires_grad
    }


def changing(network: nn.Module) -> Weights:
    """All weights except frozen ones, which do not change."""
    frozen = (
        dict(network.named_parameters(remove_duplicate=False)).keys()
        - learning_parameters(network).keys()
    )
    return {name: value for name, value in network.state_dict().items() if name not in frozen}


def weights_of(network: nn.Module) -> Weights:
    """A copy of the weights of `changing` on the CPU."""
    return {name: value.detach().to("cpu", copy=True) for name, value in changing(network).items()}


def restore_weights(network: nn.Module, weights: Mapping[str, torch.Tensor]) -> None:
    """Loads weights of `weights_of`; RuntimeError if one is missing or unexpected."""
    missing, unexpected = network.load_state_dict(weights, strict=False)
    if wrong := sorted({*learning_parameters(network)} & {*missing} | {*unexpected}):
        raise RuntimeError(f"weights are missing or unexpected: {', '.join(wrong)}")
