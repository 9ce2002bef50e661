"""Padded sub-tokens per pass, in the same batches as the training loop."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Batches:
    """Padded batches of one pass: batch i has `sizes[i]` inputs of `lengths[i]` sub-tokens.

    :param share: fraction of the pass that runs; a limit of updates may end within a pass
    """

    sizes: Ints
    lengths: Ints
    share: float = 1.0

    @property
    def subtokens(self) -> float:
        """Padded sub-tokens of the pass."""
        return float((self.sizes * self.lengths).sum()) * self.share


@dataclass(frozen=True)
class Lengths:
    """Sub-tokens per row of some examples, including special tokens.

    :param rows: (rows,) length of each
    :param unit: (rows,) index of its example; long examples have several rows
    :param units: number of examples
    :param exact: whether all examples were tokenised, and not a sample
    :param words: words of all examples, 0 if none are predicted
    :param seconds: seconds to tokenise them; 0 if they are cached
    :param disk: bytes they will take in the cache; 0 if they are cached
    :param read: words per example, of all its texts; 0 where sub-tokens are counted
    """

    rows: Ints
    unit: Ints
    units: int
    exact: bool = True
    words: int = 0
    seconds: float = 0.0
    disk: int = 0
    read: float = 0.0

    def of(self, chosen: Ints | None) -> Ints:
        """Lengths of the rows of the chosen examples; None for all."""
        return self.rows if chosen is None else self.rows[np.isin(self.unit, chosen)]


def training(lengths: Ints, batch_size: int, seed: int) -> Batches:
    """The batches of the first epoch."""
    from blurb.training.batches import training_batches

    rng = np.random.default_rng(seed)
    return _padded(lengths, training_batches(lengths, batch_size, rng))


def prediction(lengths: Ints, device: str) -> Batches:
    """The batches in which a split is predicted.

    :param device: type of the torch device
    """
    from blurb.training.batches import prediction_batches
    from blurb.training.loop import SUBTOKENS

    return _padded(lengths, prediction_batches(lengths, SUBTOKENS.get(device, 8_192)))


def _padded(lengths: Ints, batches: list[Ints]) -> Batches:
    sizes = np.array([len(rows) for rows in batches], dtype=np.int64)
    return Batches(sizes, np.array([lengths[rows].max() for rows in batches], dtype=np.int64))


def epochs(batches: int, epochs: int, max_updates: int) -> tuple[int, float]:
    """Epochs begun, and passes over the data; with a limit of updates the last pass may be partial."""
    total = batches * epochs
    if max_updates:
        total = min(total, max_updates)
    return math.ceil(total / batches), total / batches
