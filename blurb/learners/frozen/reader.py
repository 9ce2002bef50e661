"""What a probe reads: the vectors of units under a frozen encoder, from the cache or from a forward pass."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from blurb.checkpoints import ModelSource
from blurb.checkpoints.encoder_size import capacity, enlarge
from blurb.checkpoints.loaded_encoder import encoder_of
from blurb.formulations._base import Formulation
from blurb.inputs.features import Features
from blurb.inputs.tokenized_split import cached, features_key
from blurb.learners.base import Subset
from blurb.learners.frozen.encoder import LAYERS, Frozen, fingerprint
from blurb.learners.frozen.vectors import Half, stored
from blurb.training.hardware import Precision

log = logging.getLogger(__name__)
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Read:
    """The vectors of some units.

    :param features: what the encoder read, as the formulation's `output` wants it
    :param layers: for each of `frozen.LAYERS` the vectors of each of `frozen_features`
    """

    features: Features
    layers: Sequence[Sequence[Half]]

    @property
    def units(self) -> Ints:
        """The unit of every row of the design, (rows,)."""
        if self.features.word_ids is None:
            return self.features.example_index
        return np.repeat(self.features.example_index, self.features.word_ids.lengths)

    def by_input(self, rows: Tensor) -> list[npt.NDArray[Any]]:
        """Rows of the design as an array per input: that of its words, or its own row."""
        if self.features.word_ids is None:
            return list(rows.numpy())
        return np.split(rows.numpy(), self.features.word_ids.offsets[1:-1])

    def neighbours(self) -> Tensor | None:
        """(rows - 1, 1) for words, 1 where the next is of the same sentence."""
        if self.features.word_ids is None:
            return None
        units = self.units
        return torch.from_numpy((units[1:] == units[:-1]).astype(np.float32)).unsqueeze(1)


class Reader:
    """Reads units with a frozen encoder.

    :param train: the units that are learned from: the tokenizer gets the tokens that they need
    :param facts: gets what the provenance should tell of the inputs
    """

    def __init__(
        self,
        source: ModelSource,
        formulation: Formulation,
        device: torch.device,
        precision: Precision,
        train: Subset,
        facts: dict[str, Any],
    ) -> None:
        self.source = source
        self.formulation = formulation
        self.precision = precision
        settings = formulation.settings
        self.tokenizer = source.checkpoint.tokenizer.extended(formulation.special_tokens(train.rows))
        encoder, _ = encoder_of(source)
        most = capacity(encoder)
        self.limit = min(settings.max_length, most or settings.max_length)
        enlarge(encoder, self.tokenizer.size)
        self.frozen = Frozen(
            encoder,
            source.checkpoint.width,
            self.tokenizer.special_tokens.cls,
            self.tokenizer.pad_id,
            device,
            precision,
            settings.word_pooling,
        )
        self.facts = facts
        self.facts["max_length"] = self.limit

    def read(self, units: Subset) -> Read:
        """The vectors of the units in use, from the cache or from a forward pass."""
        parts = self._inputs(units)
        names = self.formulation.vectors
        by_part = []
        for features in parts:
            rows = len(features) if features.word_ids is None else int(features.word_ids.offsets[-1])
            shape = (rows, self.frozen.size * (1 if features.word_ids is not None else len(names)))
            key = {
                "weights": self.source.weights,
                "tokenizer": self.tokenizer.hash,
                "inputs": fingerprint(features),
                "precision": self.precision,
                "layers": list(LAYERS),
                "vectors": list(names),
                "word_pooling": self.formulation.settings.word_pooling if features.word_ids is not None else "",
            }

            def fill(arrays: Sequence[Half], features: Features = features) -> None:
                self.frozen.fill(features, names, arrays)

            arrays, note = stored(key, [shape] * len(LAYERS), fill)
            if note:
                log.warning("vectors of %s: %s", units.name, note)
                self.facts[f"{units.name}_vectors"] = note
            by_part.append(arrays)
        return Read(parts[0], list(zip(*by_part, strict=True)))

    def _inputs(self, units: Subset) -> Sequence[Features]:
        features: list[Features] = []
        wholes: list[Features] = []
        count = len(self.formulation.frozen_features(units.rows[:1], self.tokenizer, self.limit))
        # Only where the frozen encoder reads what a fine-tuned one does, they share it.
        shared = type(self.formulation).frozen_features is Formulation.frozen_features
        for part in range(count):
            key = features_key(units.key, self.tokenizer.hash, self.limit)
            if not shared:
                key["part"] = part

            def build(part: int = part) -> Features:
                return self.formulation.frozen_features(units.rows, self.tokenizer, self.limit)[part]

            whole = cached(key, build)
            wholes.append(whole)
            features.append(whole if units.chosen is None else whole.of_units(units.chosen))
        self.facts[f"{units.name}_inputs"] = {
            "units": len(units.rows),
            "rows": sum(map(len, wholes)),
            "truncated": sum(whole.truncated for whole in wholes),
            "windowed": sum(whole.windowed for whole in wholes),
        }
        return features
