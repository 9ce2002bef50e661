"""Vectors of units under a frozen encoder, two layers of each, from the cache or from a pass without gradients."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from blurb.checkpoints import ModelSource
from blurb.checkpoints.architecture import enlarge_embeddings, longest_input
from blurb.checkpoints.source import encoder_of
from blurb.formulations._base import Formulation
from blurb.heads.pooling._base import word_vectors
from blurb.heads.pooling.cls import Cls
from blurb.heads.pooling.mean import Mean
from blurb.heads.pooling.mention_mean import MentionMean
from blurb.inputs.features import RAGGED, Features, Ints, Ragged
from blurb.inputs.tokenized_split import cached_features, features_key
from blurb.learners.base import Subset
from blurb.learners.frozen.vectors import Half, stored_vectors
from blurb.learners.linear import Read
from blurb.messages import ModelError, opt
from blurb.training.batches import Batch
from blurb.training.hardware import Precision, bf16_products, encoder_autocast
from blurb.training.loop import in_batches

LAYERS = ("last", "middle")
"""In the order in which they are tried: if they tie on dev, the last layer wins."""
DEPTH = 2 / 3
"""Position of the middle layer: below the top layers, which are specialised in the pretraining objective, and above
those of word forms; syntax and mentions are encoded best there (Tenney et al., arXiv 1905.05950; docs/decisions/)."""
LARGEST = 65_504.0
"""Largest float16, the type of cached vectors: it rounds less than bf16, in which they are computed."""


@dataclass
class Frozen:
    """A frozen encoder.

    :param encoder: a transformers model in float32
    :param size: of its vectors
    :param cls: position of the classification token (0, -1); None uses the first sub-token instead
    :param word_pooling: one of `blurb.inputs.words.POOLINGS`
    :raises ModelError: after the first batch, if the encoder returns no hidden states
    """

    encoder: Any
    size: int
    cls: int | None
    pad_id: int
    device: torch.device
    precision: Precision
    word_pooling: str

    def __post_init__(self) -> None:
        self.encoder.to(self.device).eval().requires_grad_(False)

    def fill(self, features: Features, names: Sequence[str], into: Sequence[Half]) -> None:
        """Computes the vectors of all inputs, by layer.

        :param names: the vectors of an input to concatenate (first, mean, max, head, tail), or word for a row per word
        :param into: for each of `LAYERS` (inputs, vectors * size), or (words, size) in the order of the inputs
        """
        starts = (
            features.word_ids.offsets
            if features.word_ids is not None
            else np.arange(len(features) + 1)
        )
        for rows, found in in_batches(
            features, self.pad_id, self.device, lambda batch: self._vectors(batch, names)
        ):
            places = np.concatenate([np.arange(starts[row], starts[row + 1]) for row in rows])
            for array, vectors in zip(into, found, strict=True):
                array[places] = vectors.clamp(-LARGEST, LARGEST).half().cpu().numpy()

    @torch.inference_mode()
    def _vectors(self, batch: Batch, names: Sequence[str]) -> list[Tensor]:
        rounded = encoder_autocast(self.device, self.precision)
        with rounded, bf16_products(self.device, self.precision):
            output = self.encoder(**batch.inputs, output_hidden_states=True)
        states = getattr(output, "hidden_states", None)
        if not states or len(states) < 2:
            raise ModelError(
                f"This encoder ({type(self.encoder).__name__}) does not return the hidden states of its layers, which "
                f"a probe needs; fine-tune it with another protocol, such as {opt('protocol', 'quick')}."
            )
        layers = {"last": output.last_hidden_state, "middle": states[middle(len(states) - 1)]}
        if layers["middle"].shape != layers["last"].shape:
            raise ModelError(
                f"The layers of this encoder ({type(self.encoder).__name__}) differ in length or size "
                f"({tuple(layers['middle'].shape[1:])} and {tuple(layers['last'].shape[1:])}), but a probe needs both; "
                f"fine-tune it with another protocol, such as {opt('protocol', 'quick')}."
            )
        return [self._read(layers[name].float(), batch, names) for name in LAYERS]

    def _read(self, hidden: Tensor, batch: Batch, names: Sequence[str]) -> Tensor:
        """The vectors of one layer from its hidden states (batch, pieces, size)."""
        if (
            batch.word_starts is not None
            and batch.word_ends is not None
            and batch.word_mask is not None
        ):
            return word_vectors(hidden, batch.word_starts, batch.word_ends, self.word_pooling)[
                batch.word_mask
            ]
        vectors: dict[str, Tensor] = {}
        if "first" in names:
            vectors["first"] = Cls(self.size, self.cls or 0)(hidden, batch.mask)
        if "mean" in names:
            vectors["mean"] = Mean(self.size, self.cls)(hidden, batch.mask)
        if "max" in names:
            inside = batch.mask.unsqueeze(-1).bool()  # (batch, pieces, 1)
            highest = hidden.masked_fill(~inside, torch.finfo(hidden.dtype).min).amax(1)
            vectors["max"] = highest.masked_fill(~inside.any(1), 0)  # an empty text is all padding
        if batch.entities is not None:
            mentions = MentionMean(self.size, self.cls)(hidden, batch.mask, entities=batch.entities)
            vectors["head"], vectors["tail"] = mentions.split(self.size, 1)
        return torch.cat([vectors[name] for name in names], 1)


def middle(layers: int) -> int:
    """Index of the middle one of the hidden states 0 (embeddings) to `layers`.

    >>> [middle(layers) for layers in (1, 2, 6, 12, 24)]
    [1, 1, 4, 8, 16]
    """
    return max(1, round(DEPTH * layers))


def fingerprint(features: Features) -> str:
    """A hash of everything that an encoder reads, so that tasks on the same texts share their vectors."""
    digest = hashlib.sha256()
    parts: Mapping[str, Ragged | Ints | None] = {
        **{name: getattr(features, name) for name in RAGGED},
        "entities": features.entities,
    }
    for name, part in parts.items():
        for array in (
            (part.values, part.offsets)
            if isinstance(part, Ragged)
            else ()
            if part is None
            else (part,)
        ):
            digest.update(f"{name} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array, dtype=np.int64).data)
    return digest.hexdigest()


log = logging.getLogger(__name__)


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
        self.tokenizer = source.checkpoint.tokenizer.extended(
            formulation.special_tokens(train.rows)
        )
        encoder, _ = encoder_of(source)
        self.limit = min(settings.max_length, longest_input(encoder) or settings.max_length)
        enlarge_embeddings(encoder, self.tokenizer.size)
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
            rows = (
                len(features) if features.word_ids is None else int(features.word_ids.offsets[-1])
            )
            shape = (rows, self.frozen.size * (1 if features.word_ids is not None else len(names)))
            key = {
                "weights": self.source.weights,
                "tokenizer": self.tokenizer.hash,
                "inputs": fingerprint(features),
                "precision": self.precision,
                "layers": list(LAYERS),
                "vectors": list(names),
                "word_pooling": self.formulation.settings.word_pooling
                if features.word_ids is not None
                else "",
            }
            arrays, note = stored_vectors(
                key, [shape] * len(LAYERS), partial(self.frozen.fill, features, names)
            )
            if note:
                log.warning("vectors of %s: %s", units.name, note)
                self.facts[f"{units.name}_vectors"] = note
            by_part.append(arrays)
        return Read(parts[0], list(zip(*by_part, strict=True)))

    def _inputs(self, units: Subset) -> Sequence[Features]:
        wholes: list[Features] = []
        count = len(self.formulation.frozen_features(units.rows[:1], self.tokenizer, self.limit))
        # Only where the frozen encoder reads what a fine-tuned one does, they share it.
        shared = type(self.formulation).frozen_features is Formulation.frozen_features
        for part in range(count):
            key = features_key(units.key, self.tokenizer.hash, self.limit)
            if not shared:
                key["part"] = part

            def build(part: int = part) -> Features:
                return self.formulation.frozen_features(units.rows, self.tokenizer, self.limit)[
                    part
                ]

            wholes.append(cached_features(key, build))
        self.facts[f"{units.name}_inputs"] = {
            "units": len(units.rows),
            "rows": sum(map(len, wholes)),
            "truncated": sum(whole.truncated for whole in wholes),
            "windowed": sum(whole.windowed for whole in wholes),
        }
        return [whole if units.chosen is None else whole.of_units(units.chosen) for whole in wholes]
