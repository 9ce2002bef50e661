"""A trial: one model that learned one task with one seed, named by what decides its result."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

PROBE = "probe"
RECIPES: Mapping[str, int] = {"encoder": 1, "baseline": 1, PROBE: 1}
"""By kind of learner; raised by hand when a change of ours (loop, inputs, heads) changes its results: then its trials
are run again, and no others."""
LATER = ("plugins", "learner")
"""Fields that came after the first stores: not there while they are empty, so that what was done stays done."""


def kind_of(weights: str) -> str:
    """What learned, where nothing but the hash of the weights says so: a baseline or a fine-tuned encoder."""
    return "baseline" if weights.startswith("baseline:") else "encoder"


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
    :param recipe: of its learner
    :param plugins: setting -> hash of the code and options of what is not built in (`blurb.runs.plugins`)
    :param learner: "probe" where the encoder stays as it is; "" for a fine-tuned encoder, or a baseline (`weights`)
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

    @property
    def content(self) -> dict[str, Any]:
        """What is stored and hashed."""
        return {name: value for name, value in asdict(self).items() if value or name not in LATER}

    @property
    def hash(self) -> str:
        """16 hexadecimal digits over the content."""
        text = json.dumps(self.content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def kind(self) -> str:
        """The kind of its learner, a key of `RECIPES`."""
        return self.learner or kind_of(self.weights)

    @property
    def family(self) -> str:
        """The hash without the seed: only trials of one family may be averaged."""
        return replace(self, seed=0).hash


@dataclass(frozen=True)
class Configuration:
    """What makes a row of the leaderboard besides the model: protocol, overrides, precision and data suite.

    :param note: words of the protocol's file; they may be changed without making another row
    """

    protocol: str
    protocol_hash: str
    overrides: Mapping[str, Any]
    precision: str
    suite: str
    note: str = field(default="", compare=False)

    @property
    def identity(self) -> dict[str, Any]:
        """All that decides, and no words."""
        return {name: value for name, value in asdict(self).items() if name != "note"}

    @property
    def text(self) -> str:
        """As the leaderboard prints it: the protocol, then the overrides in alphabetical order."""
        return " ".join(filter(None, (self.protocol, self.overrides_text)))

    @property
    def overrides_text(self) -> str:
        """`key=value`, in alphabetical order, with blanks between."""
        return " ".join(f"{key}={self.overrides[key]}" for key in sorted(self.overrides))

    @property
    def from_file(self) -> bool:
        """Whether the protocol is a user's file, `stem@` and 8 digits of its hash, and not a shipped one, `quick@2`."""
        return re.search(r"@[0-9a-f]{8}$", self.protocol) is not None
