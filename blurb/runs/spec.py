"""A trial: one fine-tuning of one model on one task with one seed, named by what decides its result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

RECIPE = 1
"""Raised by hand when a change of ours (loop, inputs, heads) changes results; old trials are then run again."""


@dataclass(frozen=True)
class Trial:
    """What was asked. The content hash is its identity; the environment and the metrics are not part of it.

    :param task: name of the task
    :param weights: hash of weights and configuration of the model
    :param tokenizer: hash of what decides the token ids
    :param data: hash of the canonical examples of all splits
    :param settings: everything that the protocol decided and that concerns this task
    :param seed: seed of weights, batches, dropout and drawn subsets
    :param precision: as resolved (fp32, bf16, fp16)
    """

    task: str
    weights: str
    tokenizer: str
    data: str
    settings: Mapping[str, Any]
    seed: int
    precision: str
    recipe: int = RECIPE

    @property
    def hash(self) -> str:
        """16 hexadecimal digits over all fields."""
        text = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def family(self) -> str:
        """The hash without the seed: only trials of one family may be averaged."""
        return replace(self, seed=0).hash


@dataclass(frozen=True)
class Configuration:
    """What makes a row of the leaderboard besides the model: protocol, overrides, precision and data suite."""

    protocol: str
    protocol_hash: str
    overrides: Mapping[str, Any]
    precision: str
    suite: str
    note: str = ""

    @property
    def text(self) -> str:
        """As the leaderboard prints it: the protocol, then the overrides in alphabetical order."""
        return " ".join([self.protocol, *(f"{key}={self.overrides[key]}" for key in sorted(self.overrides))])
