"""Sentence similarity: regression on the pair with squared error (Gu et al., section 2.4.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blurb.data.schema import Example
from blurb.formulations._base import Array, Arrays, Formulation, Output
from blurb.inputs.features import Features
from blurb.inputs.texts import encode_pairs, encode_texts
from blurb.inputs.tokenizer import Tokenizer


class Similarity(Formulation):
    """[CLS] S1 [SEP] S2 [SEP] to a number. Stored predictions are not clipped; the metric clips them."""

    kind = "regression"
    has_pair = True
    loss = "squared_error"
    vectors = ("mean",)

    @property
    def labels(self) -> Sequence[str]:
        return ("score",)

    def features(self, units: Sequence[Example], tokenizer: Tokenizer, max_length: int) -> Features:
        first, second = ([unit[part] for unit in units] for part in ("text_a", "text_b"))
        return encode_pairs(first, second, tokenizer, max_length, shorten="longer", places=True)

    def frozen_features(
        self, units: Sequence[Example], tokenizer: Tokenizer, max_length: int
    ) -> Sequence[Features]:
        """The two texts separately: a frozen encoder has not learned to compare two texts in one input."""
        return [
            encode_texts([unit[part] for unit in units], tokenizer, max_length)
            for part in ("text_a", "text_b")
        ]

    def joined(self, vectors: Arrays) -> Array:
        """Cosine, |u - v| and u * v, (pairs, 1 + 2 * size)."""
        u, v = vectors
        lengths = np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1)
        cosine = (u * v).sum(1) / np.maximum(lengths, 1e-12)
        return np.concatenate([cosine[:, None], np.abs(u - v), u * v], axis=1)

    def targets(self, units: Sequence[Example]) -> Array:
        return np.array([unit["score"] for unit in units], dtype=np.float32)

    def gold(self, unit: Example) -> float:
        return float(unit["score"])

    def unit_of(self, gold: float) -> Example:
        return {"score": gold}

    def output(
        self, units: Sequence[Example], features: Features, predicted: Arrays, scores: Arrays
    ) -> Output:
        return [float(value) for value in predicted], None

    def losses(
        self, units: Sequence[Example], features: Features, scores: Arrays
    ) -> Sequence[float] | None:
        return [float(value) ** 2 for value in np.asarray(scores, np.float64) - self.targets(units)]

    def constants(self, train: Sequence[Example]) -> list[float]:
        return [float(np.mean([unit["score"] for unit in train]))]
