"""What can be odd about a row. A signal is told beside the row, with its figure; its reader judges."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SignalKind(StrEnum):
    """What is odd about a row."""

    FIGURE = "figure edited"
    EXAMPLES = "examples"
    DATA = "other data"
    SUBSTITUTE = "not the release"
    UNSEEN = "not looked at"
    METRICS = "other version of the metrics"
    CAPPED = "part of the examples"
    SEEDS = "fewer seeds than planned"
    UNPLANNED = "seeds that were not planned"
    UNEQUAL = "runs of different settings"
    TRIAL = "trial hash"
    PROTOCOL = "not the protocol"
    NO_DEV = "no predictions on dev"
    UNCHECKED = "cannot be checked here"
    SAME_RUNS = "two seeds alike"
    GAP = "test far above dev"
    LEAKED = "much from leaked examples"
    BETTER = "better than runs of its recipe"
    COPIED = "predictions of another row"


FATAL = (SignalKind.FIGURE, SignalKind.EXAMPLES, SignalKind.DATA, SignalKind.METRICS, SignalKind.UNSEEN)
"""Signals with which a figure is not recomputed."""


@dataclass(frozen=True)
class Signal:
    """Something odd, with its figure.

    :param where: dataset, and seed if it is of one run
    """

    kind: SignalKind
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}: {self.what}"
