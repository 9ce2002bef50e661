"""The training loop: AdamW, warm-up and linear decay, gradient clipping, best epoch on dev by the task's metric."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch

from blurb.inputs.features import Features, Ints
from blurb.messages import SettingsError, TrainingError, opt
from blurb.protocols.settings import Settings
from blurb.training.batches import (
    Batch,
    Targets,
    collate_batch,
    prediction_batches,
    training_batches,
)
from blurb.training.dropout import use_cpu_dropout
from blurb.training.hardware import Precision, bf16_products, encoder_autocast, out_of_memory
from blurb.training.network import (
    Network,
    checkpoint_activations,
    train_used_rows,
    use_masks_without_waiting,
)
from blurb.training.optimizer import learning_rate_factor, make_adamw
from blurb.training.resuming import (
    Checkpoints,
    Epoch,
    LoopState,
    Resumption,
    restore_weights,
    weights_of,
)
from blurb.training.tracking import Tracking

log = logging.getLogger(__name__)
T = TypeVar("T")
CHECK_EVERY = 10
"""Steps between checks of the loss, as reading it makes a GPU wait."""
SUBTOKENS = {"cpu": 4_096, "cuda": 65_536}
"""Maximum sub-tokens in a batch of predictions."""


@dataclass
class Trainer:
    """Trains a network and predicts with it.

    :param network: encoder, featurizer and head
    :param pad_id: padding id
    :param on_step: called with (steps done, total steps) after every step
    :param tracking: receives the results of every epoch
    :param checkpointing: whether the activations of layers are computed again instead of kept ("on", "off"); "auto" if
        one input does not fit otherwise. No bit changes
    :param checkpoints: keeps an interrupted training, which goes on from there
    :ivar state: how far the training is
    :ivar resumed: step and seconds after which it went on
    """

    network: Network
    pad_id: int
    device: torch.device
    precision: Precision
    on_step: Callable[[int, int], None] = lambda done, total: None
    micro_batch: int | None = None
    tracking: Tracking = field(default_factory=Tracking)
    checkpoints: Checkpoints | None = None
    checkpointing: str = "auto"
    state: LoopState = field(init=False)
    resumed: dict[str, float] = field(default_factory=dict, init=False)
    scaler: torch.amp.GradScaler = field(init=False)
    products: AbstractContextManager[object] = field(init=False)

    def __post_init__(self) -> None:
        self.products = bf16_products(self.device, self.precision)
        self.network.autocast = encoder_autocast(self.device, self.precision)
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=self.precision == "fp16")
        self.tracking.start()
        if self.checkpointing == "on" and not checkpoint_activations(self.network.encoder):
            raise SettingsError(
                f"{opt('checkpointing', 'on')}: {type(self.network.encoder).__name__} does not support it."
            )
        self.network.to(self.device)
        if self.device.type == "cpu":
            use_cpu_dropout(self.network)
        else:
            use_masks_without_waiting(self.network)

    def fit(
        self,
        features: Features,
        targets: Targets,
        settings: Settings,
        seed: int,
        evaluate: Callable[[], float],
    ) -> list[Epoch]:
        """Trains in place and keeps the weights selected by the settings (best epoch on dev, or last).

        :param targets: targets of all examples of `features`
        :param evaluate: computes the dev metric of the current network
        :raises TrainingError: if the loss is NaN or infinite, or a single input does not fit into memory
        """
        self.state = state = LoopState(np.random.default_rng(seed))
        lengths = features.ids.lengths
        per_epoch = math.ceil(len(features) / settings.batch_size)
        total = per_epoch * settings.epochs
        if settings.max_updates:
            total = min(total, settings.max_updates)
        factor = learning_rate_factor(settings.warmup, total)
        encoder: Any = self.network.encoder
        if settings.weight_decay == 0 and encoder.get_input_embeddings().weight.requires_grad:
            used = np.union1d(features.ids.values, [self.pad_id])
            train_used_rows(encoder, torch.from_numpy(used).to(self.device))
        optimizer = make_adamw(self.network, settings)
        resumption = Resumption(self, optimizer, state)
        epochs = math.ceil(total / per_epoch)
        with resumption.resumable():
            for epoch in range(len(state.history) + 1, epochs + 1):
                self.network.train()
                batches = training_batches(lengths, settings.batch_size, state.rng)[
                    : total - state.begun
                ]
                for rows in batches[len(state.losses) :]:
                    for group in optimizer.param_groups:
                        group["lr"] = group["peak"] * factor(state.done) * group["scale"]
                    with resumption.atomic_step():
                        state.losses.append(
                            self._step(features, rows, targets, optimizer, settings.clip_norm)
                        )
                    self.on_step(state.done, total)
                    if state.done % CHECK_EVERY == 0 or len(state.losses) == len(batches):
                        _check_losses(state.losses, epoch, state.done, settings)
                score = evaluate() if settings.select == "best" or epoch == epochs else None
                with resumption.atomic_step():
                    loss, rate = (
                        float(torch.stack(state.losses).mean()),
                        settings.lr * factor(state.done - 1),
                    )
                    is_best = (
                        settings.select == "best" and score is not None and state.is_better(score)
                    )
                    state.end_epoch(
                        Epoch(epoch, loss, rate, score),
                        weights_of(self.network) if is_best else None,
                    )
                    self.tracking.log({"loss": loss, "learning_rate": rate, "dev": score}, epoch)
                log.info("epoch %d of %d: loss %.4f, dev %s", epoch, epochs, loss, score)
                resumption.save()
        if state.best is not None:
            restore_weights(self.network, state.best.weights)
        return state.history

    def _recompute(self, error: RuntimeError) -> None:
        """Checkpoints activations if one input does not fit; TrainingError if that is done, off or impossible."""
        if self.checkpointing != "auto" or not checkpoint_activations(self.network.encoder):
            raise _too_long() from error
        self.checkpointing = "on"
        log.warning("out of memory for one input: activations are computed twice from now on")

    def _step(
        self,
        features: Features,
        rows: Ints,
        targets: Targets,
        optimizer: torch.optim.Optimizer,
        clip_norm: float,
    ) -> torch.Tensor:
        """One optimizer step. If memory runs out, the micro-batch is halved; the effective batch size is unchanged."""
        while True:
            size = self.micro_batch or len(rows)
            try:
                loss = self.add_gradients(features, rows, targets, size)
                break
            except RuntimeError as error:
                if not out_of_memory(error):
                    raise
                optimizer.zero_grad()
                if size <= 1:
                    self._recompute(error)
                self.micro_batch = math.ceil(min(size, len(rows)) / 2)
                if self.device.type == "cuda":
                    torch.cuda.empty_cache()
                log.warning(
                    "out of memory: using micro-batches of %d; the protocol's batch size stays the same",
                    self.micro_batch,
                )
        if clip_norm > 0:
            self.scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), clip_norm)
        self.scaler.step(optimizer)
        self.scaler.update()
        optimizer.zero_grad()
        return loss  # type: ignore[possibly-undefined]

    def add_gradients(
        self, features: Features, rows: Ints, targets: Targets, size: int
    ) -> torch.Tensor:
        """Forward and backward of a batch in micro-batches of `size` inputs; returns the loss."""
        parts = [
            collate_batch(features, rows[i : i + size], self.pad_id, targets)
            for i in range(0, len(rows), size)
        ]
        head = self.network.head
        for part in parts:
            head.check_targets(_answers_of(part), part.word_mask)
        counts = [
            torch.as_tensor(head.num_targets(_answers_of(part), part.word_mask)) for part in parts
        ]
        num_targets = torch.stack(counts).sum().clamp(min=1)
        total = torch.zeros((), device=self.device)
        for part in parts:
            with self.products:
                loss = self.network.loss(part.to(self.device)) / num_targets
                self.scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
            total += loss.detach()
        return total

    @torch.no_grad()
    def head_features(
        self, features: Features, targets: Targets
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The head's features and targets of every input, on the CPU, without dropout, words in one dimension.

        :param targets: targets of all examples of `features`
        :returns: (rows, size) and (rows,) or (rows, labels)
        """
        self.network.eval()
        parts: list[tuple[torch.Tensor, torch.Tensor]] = []
        for rows in prediction_batches(
            features.ids.lengths, SUBTOKENS.get(self.device.type, 8_192)
        ):
            batch = collate_batch(features, rows, self.pad_id, targets).to(self.device)
            with self.products:
                vectors, answers = self.network.features(batch), _answers_of(batch)
            if batch.word_mask is not None:
                vectors, answers = vectors[batch.word_mask], answers[batch.word_mask]
            parts.append((vectors.cpu(), answers.cpu()))
        return torch.cat([vectors for vectors, _ in parts]), torch.cat(
            [answers for _, answers in parts]
        )

    @torch.inference_mode()
    def predict(
        self, features: Features
    ) -> tuple[list[npt.NDArray[np.generic]], list[npt.NDArray[np.generic]]]:
        """Predictions and scores of the head, one array per row of `features`."""
        self.network.eval()
        predicted: list[npt.NDArray[np.generic]] = [np.zeros(0)] * len(features)
        scores = list(predicted)
        with self.products:
            for rows, (best, probabilities) in in_batches(
                features, self.pad_id, self.device, self.network.predict
            ):
                for row, value, score in zip(
                    rows, best.cpu().numpy(), probabilities.cpu().numpy(), strict=True
                ):
                    predicted[row], scores[row] = value, score
        return predicted, scores


def in_batches(
    features: Features, pad_id: int, device: torch.device, ask: Callable[[Batch], T]
) -> Iterator[tuple[Ints, T]]:
    """Yields rows and the result of `ask` for their batch, longest first; halves a batch if memory runs out.

    :raises TrainingError: if a single input does not fit into memory
    """
    batches = prediction_batches(features.ids.lengths, SUBTOKENS.get(device.type, 8_192))[::-1]
    while batches:
        rows = batches.pop()
        try:
            answers = ask(collate_batch(features, rows, pad_id).to(device))
        except RuntimeError as error:
            if not out_of_memory(error):
                raise
            if len(rows) == 1:
                raise _too_long() from error
            batches += [rows[len(rows) // 2 :], rows[: len(rows) // 2]]
            continue
        yield rows, answers


def _answers_of(batch: Batch) -> torch.Tensor:
    assert batch.targets is not None
    return batch.targets


def _check_losses(losses: list[torch.Tensor], epoch: int, step: int, settings: Settings) -> None:
    if not torch.isfinite(torch.stack(losses[-CHECK_EVERY:])).all():
        raise TrainingError(
            f"The loss is not finite (epoch {epoch}, by step {step}, learning rate {settings.lr:g}).",
            fix=f"Try a lower learning rate ({opt('set', 'lr=1e-5')}) or {opt('precision', 'fp32')}.",
        )


def _too_long() -> TrainingError:
    return TrainingError(
        f"Out of memory for a single input; reduce max_length ({opt('set', 'max_length=...')}) or use another "
        f"{opt('device')}."
    )
