"""What a metric declares, once: scoring, tables, bootstrap, `evaluate` and the Hub's formats all ask it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.float64]
"""(units, summands)."""
Scores = NDArray[np.float64]


def _as_they_are(first: Counts, second: Counts) -> Counts:
    return second


@dataclass(frozen=True)
class Metric:
    """A function of gold and predictions, the same as a function of sums over units, and what others call it."""

    function: Callable[..., dict[str, float]]
    """`function(gold, predicted, **options)`: its figures, the one that counts first; never NaN."""
    main: str
    """The figure that counts: the first."""
    hub: str
    """What the Hugging Face Hub calls that figure."""
    counts: Callable[..., NDArray[Any]]
    """`counts(gold, predicted, **options)`: the summands of each unit, (units, summands)."""
    score: Callable[[Counts], Scores]
    """The figure that counts, of sums of summands: (..., summands) to (...)."""
    mistakes: Callable[[Counts], Scores]
    """How much is wrong in each unit, (units, summands) to (units,), 0 where all is right."""
    aligned: Callable[[Counts, Counts], Counts] = _as_they_are
    """The counts of a second run on the same units, as summands that may be mixed with those of the first."""
    dtype: str = "string"
    """What an answer is made of, as a `datasets.Value`."""
    sequence: bool = False
    """Whether an answer has several of them: a tag a word, the labels of a document."""
    tallies: frozenset[str] = frozenset()
    """Figures that are no fractions: tables do not multiply them by 100."""

    def __call__(self, gold: Any, predicted: Any, **options: Any) -> dict[str, float]:
        """The figures, as `function` gives them."""
        return self.function(gold, predicted, **options)
