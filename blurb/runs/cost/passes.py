"""How many padded sub-tokens a pass has: the batches are those that the loop would make."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Batches:
    """Padded batches of one pass: batch i has `sizes[i]` inputs of `lengths[i]` sub-tokens.

    :param share: of a pass that is made; a budget of updates may end within one
    """

    sizes: Ints
    lengths: Ints
    share: float = 1.0

    @property
    def pieces(self) -> float:
        """Padded sub-tokens of the pass."""
        return float((self.sizes * self.lengths).sum()) * self.share


@dataclass(frozen=True)
class Lengths:
    """Sub-tokens of the rows of some units, special tokens included.

    :param rows: (rows,) length of each
    :param unit: (rows,) the unit that it belongs to; long units have several rows
    :param units: number of units
    :param exact: the units were tokenised; otherwise a sample of them stands for all
    :param words: words of all units, 0 where none are predicted
    :param seconds: what tokenising them will take
    :param disk: bytes that they will take in the cache; as `seconds` 0 where they are there
    """

    rows: Ints
    unit: Ints
    units: int
    exact: bool = True
    words: int = 0
    seconds: float = 0.0
    disk: int = 0

    def of(self, chosen: Ints | None) -> Ints:
        """Lengths of the rows of some units, or of all."""
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
    from blurb.training.loop import PIECES

    return _padded(lengths, prediction_batches(lengths, PIECES.get(device, 8_192)))


def _padded(lengths: Ints, batches: list[Ints]) -> Batches:
    sizes = np.array([len(rows) for rows in batches], dtype=np.int64)
    return Batches(sizes, np.array([lengths[rows].max() for rows in batches], dtype=np.int64))


def epochs(batches: int, epochs: int, max_updates: int) -> tuple[int, float]:
    """Epochs that are begun, and passes over the data: with a budget of updates the last epoch may be a part of one."""
    total = batches * epochs
    if max_updates:
        total = min(total, max_updates)
    return math.ceil(total / batches), total / batches
