"""The loop of `blurb` with steps that a card records once and replays, for whole trials.

Only the step differs from `Trainer`. It becomes the loop once a card has shown that whole trials score as before,
within the noise of their seeds; `measure_loop` has shown how fast it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch

from benchmarks.device.static_step import StaticSteps, batch_lengths, best_lengths
from blurb.heads.linear import Linear
from blurb.inputs.features import Features, Ints
from blurb.protocols.settings import Settings
from blurb.training import dropout, network
from blurb.training.batches import Targets, collate_batch, training_batches
from blurb.training.loop import Trainer
from blurb.training.resuming import Epoch


class RecordedTrainer(Trainer):
    """Trains in recorded steps where they are understood, else as `Trainer`.

    Understood are a linear head on an encoder whose attention is torch's own and whose layers are never left out, in
    float32 or bf16. A batch that memory cannot hold fails the trial: its recordings hold what would have to be freed.

    :ivar counts: of all trainings of this process: how their steps were made
    """

    counts: ClassVar[Counter[str]] = Counter()
    steps: StaticSteps | None = None

    def is_understood(self) -> bool:
        """Whether the steps of this network can be recorded."""
        encoder: Any = self.network.encoder
        attention = getattr(encoder.config, "_attn_implementation", None)
        return (
            type(self.network.head) is Linear
            and attention in ("sdpa", dropout.ATTENTION, network.ATTENTION)
            and self.precision in ("fp32", "bf16")
            and self.checkpointing != "on"
            and not any(
                "layerdrop" in name and value for name, value in vars(encoder.config).items()
            )
        )

    def fit(
        self,
        features: Features,
        targets: Targets,
        settings: Settings,
        seed: int,
        evaluate: Callable[[], float],
    ) -> list[Epoch]:
        """As `Trainer.fit`; the lengths are chosen for the very batches that it will draw."""
        self.steps = None
        if self.is_understood():
            if self.precision == "bf16":
                # The cache of casts would keep tensors of a recording.
                self.network.autocast = torch.autocast(
                    self.device.type, torch.bfloat16, cache_enabled=False
                )
            generator, lengths = np.random.default_rng(seed), features.ids.lengths
            longest = [
                length
                for _ in range(settings.epochs)
                for length in batch_lengths(
                    lengths, training_batches(lengths, settings.batch_size, generator)
                )
            ][: settings.max_updates or None]
            self.steps = StaticSteps(
                self.network, self.pad_id, settings.batch_size, best_lengths(longest), self.device
            )
        history = super().fit(features, targets, settings, seed, evaluate)
        if self.steps:
            self.counts.update(self.steps.counts)
            # Recordings and gradients hold memory that predictions need.
            self.steps = None
            self.network.zero_grad()
        return history

    def _step(
        self,
        features: Features,
        rows: Ints,
        targets: Targets,
        optimizer: torch.optim.Optimizer,
        clip_norm: float,
    ) -> torch.Tensor:
        """Gradients are kept, as a recording knows their addresses, and zeroed by the next step."""
        if self.steps is None or self.micro_batch is not None:
            self.counts["as before"] += 1
            return super()._step(features, rows, targets, optimizer, clip_norm)
        # Whether a row is a window is asked by predictions alone, and not every batch has it.
        batch = replace(collate_batch(features, rows, self.pad_id, targets), inside=None)
        assert batch.targets is not None
        head = self.network.head
        head.check_targets(batch.targets, batch.word_mask)
        with self.products:
            loss = self.steps(batch, int(head.num_targets(batch.targets, batch.word_mask)))
        if clip_norm > 0:
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), clip_norm)
        optimizer.step()
        return loss
