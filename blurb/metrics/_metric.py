"""The declaration of a metric, used for scoring, tables, bootstrap, `evaluate` and the formats of the Hub."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.float64]
"""(examples, summands)."""
Scores = NDArray[np.float64]


LOSSES = frozenset({"log_loss", "squared_error"})
"""Figures that a trial has on dev beside the values of its metric (`Formulation.losses`)."""
ROUNDING = 1e-6
"""What a sum of floats may be beyond the range of a metric."""


def _as_they_are(first: Counts, second: Counts) -> Counts:
    return second


@dataclass(frozen=True)
class Metric:
    """A metric as a function of gold and predictions, and as a function of sums over examples; with its names."""

    function: Callable[..., dict[str, float]]
    """`function(gold, predicted, **options)`: its values, the main one first; never NaN."""
    main: str
    """Name of the main value, which is the first."""
    hub: str
    """Name of the main value on the Hugging Face Hub."""
    counts: Callable[..., NDArray[Any]]
    """`counts(gold, predicted, **options)`: the summands of each example, (examples, summands)."""
    score: Callable[[Counts], Scores]
    """The main value from sums of summands: (..., summands) to (...)."""
    mistakes: Callable[[Counts], Scores]
    """Mistakes in each example, (examples, summands) to (examples,), 0 if it is correct."""
    aligned: Callable[[Counts, Counts], Counts] = _as_they_are
    """The counts of a second run on the same examples, made exchangeable with those of the first."""
    dtype: str = "string"
    """Type of an answer, as a `datasets.Value`."""
    sequence: bool = False
    """Whether an answer is a sequence of them: a tag per word, the labels of a document."""
    tallies: frozenset[str] = frozenset()
    """Values that are counts."""
    low: float = -1.0
    """The least value that there can be; a figure below it is damage. (The greatest is 1 of every metric.)"""

    @property
    def unscaled(self) -> frozenset[str]:
        """Figures that tables do not multiply by 100."""
        return self.tallies | LOSSES

    def admits(self, name: str, value: float) -> bool:
        """Whether a figure can be this number: a count, a loss, or a fraction in its range."""
        if name in self.unscaled:
            return 0 <= value < float("inf")
        return self.low - ROUNDING <= value <= 1 + ROUNDING

    def __call__(self, gold: Any, predicted: Any, **options: Any) -> dict[str, float]:
        """The values of `function`."""
        return self.function(gold, predicted, **options)
