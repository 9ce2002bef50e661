"""How an encoder reads the inputs of a split: how long they are, and what a limit does to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from blurb.inputs.features import Features


@dataclass(frozen=True)
class Reading:
    """The inputs of a split as training makes them, before and after the limit.

    :param whole: features of all inputs with nothing cut off, a row an input
    :param limit: sub-tokens of the longest input, special tokens included
    :param long: the inputs that exceed it
    :param cut: features of these as the encoder gets them
    :param special: special tokens before and after a single text
    """

    whole: Features
    limit: int
    long: Sequence[int]
    cut: Features
    special: tuple[int, int]

    @property
    def room(self) -> int:
        """Sub-tokens of a single text that fit."""
        return self.limit - sum(self.special)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """(inputs,) sub-tokens before anything is cut, special tokens included."""
        return self.whole.ids.lengths


Read = Callable[[Any, Sequence[Any]], Reading]
"""From a task and the rows of a split; `blurb.models.reading` makes one of a checkpoint."""
