"""Tokenized inputs of a split: their lengths, and the effect of the maximum length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from blurb.inputs.features import Features


@dataclass(frozen=True)
class TokenizedSplit:
    """The inputs of a split as in training, before and after truncation.

    :param whole: features of all inputs without truncation, one row per input
    :param limit: maximum sub-tokens of an input, including special tokens
    :param long: indices of the inputs that exceed it
    :param cut: features of these inputs as the encoder gets them
    :param special: numbers of special tokens before and after a single text
    """

    whole: Features
    limit: int
    long: Sequence[int]
    cut: Features
    special: tuple[int, int]

    @property
    def room(self) -> int:
        """Maximum sub-tokens of a single text."""
        return self.limit - sum(self.special)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """(inputs,) number of sub-tokens before truncation, including special tokens."""
        return self.whole.ids.lengths


Read = Callable[[Any, Sequence[Any]], TokenizedSplit]
"""A function from a task and the rows of a split; `blurb.checkpoints.lengths` makes one from a checkpoint."""
