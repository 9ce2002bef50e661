"""A trial: one model trained on one task with one seed, identified by everything that decides its result."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from blurb import learners
from blurb.learners import LearnerKind

LATER = ("plugins", "learner", "predictions")
"""Fields added after the first stores. They are left out of the hash while empty, so that old trials stay done."""


def short_weights(weights: str) -> str:
    """The weights of a model as tables have them: twelve characters, and for options of a baseline six digits more.

    >>> short_weights("74c3f9df99ef8a01"), short_weights("baseline:bilstm,hidden=64")
    ('74c3f9df99ef', 'baseline:bil#a1cd7f')
    """
    name, _, options = weights.partition(",")
    if "#" in name:  # as read from a table
        return name
    return name[:12] + (f"#{hashlib.sha256(options.encode()).hexdigest()[:6]}" if options else "")


@dataclass(frozen=True)
class Trial:
    """The specification of a trial. Its hash is the identity; environment and metrics are not part of it.

    :param task: name of the task
    :param weights: hash of weights and configuration of the model
    :param tokenizer: hash of everything that decides the token ids
    :param data: hash of the canonical examples of all splits
    :param settings: the protocol's settings that apply to this task
    :param seed: seed of weights, batches, dropout and sampled subsets
    :param precision: resolved precision (fp32, bf16, fp16)
    :param recipe: recipe number of its learner
    :param plugins: setting -> hash of the code and options of plug-ins (`blurb.store.plugins`)
    :param learner: the kind of learner (`blurb.learners.in_trial`); "" for fine-tuning, and where `weights` name it
    :param predictions: hash of predictions that another tool made (`blurb.scoring`); "" for those of a learner
    """

    task: str
    weights: str
    tokenizer: str
    data: str
    settings: Mapping[str, Any]
    seed: int
    precision: str
    recipe: int = 1
    plugins: Mapping[str, str] = field(default_factory=dict)
    learner: str = ""
    predictions: str = ""

    @property
    def content(self) -> dict[str, Any]:
        """The content to store and to hash."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in found.items() if value or name not in LATER}

    @cached_property
    def hash(self) -> str:
        """16 hexadecimal digits: the hash of the content."""
        text = json.dumps(self.content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def kind(self) -> LearnerKind:
        """The kind of its learner; UnknownName if that is not installed."""
        return learners.of_trial(self.weights, self.learner)

    @property
    def family(self) -> str:
        """The hash without the seed and what depends on it; only trials of one family may be averaged."""
        return replace(self, seed=0, predictions="").hash


@dataclass(frozen=True)
class Configuration:
    """The configuration of a leaderboard row: protocol, overrides, precision and data suite.

    :param note: note of the protocol's file; not part of the row's identity
    """

    protocol: str
    protocol_hash: str
    overrides: Mapping[str, Any]
    precision: str
    suite: str
    note: str = field(default="", compare=False)

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that identifies the configuration; not the note."""
        return {name: value for name, value in vars(self).items() if name != "note"}

    @property
    def text(self) -> str:
        """As the leaderboard prints it: the protocol, then the overrides in alphabetical order."""
        return " ".join(filter(None, (self.protocol, self.overrides_text)))

    @property
    def overrides_text(self) -> str:
        """`key=value` pairs in alphabetical order, separated by spaces."""
        return " ".join(f"{key}={self.overrides[key]}" for key in sorted(self.overrides))

    @property
    def from_file(self) -> bool:
        """Whether the protocol is a user's file (`stem@` and 8 digits of its hash), not a shipped one (`quick@2`)."""
        return re.search(r"@[0-9a-f]{8}$", self.protocol) is not None
