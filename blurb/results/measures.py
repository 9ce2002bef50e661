"""What a curve shows: a score, the loss of a head, or a figure of the pretraining."""

from __future__ import annotations

import re
from enum import StrEnum

from blurb.tasks import Split

LOWER = re.compile(r"(?<![a-z])(loss|bits|nats|nll|bpb|ppl|perplexity|entropy|error)(?![a-z])", re.IGNORECASE)
"""Words in the name of a figure that is better the lower it is."""


class Measure(StrEnum):
    """What is measured of each checkpoint.

    A score is times 100. The loss of a head on dev is continuous, so it tells checkpoints apart sooner. A figure is of
    the pretraining itself.
    """

    SCORE = "score"
    LOSS = "loss"
    FIGURE = "figure"

    @property
    def digits(self) -> int:
        """Digits after the point in sentences and tables of the page."""
        return 2 if self is Measure.SCORE else 3

    def direction(self, name: str) -> int | None:
        """1 if higher values are better, -1 if lower ones are; None for a figure whose name does not tell it.

        >>> [Measure.FIGURE.direction(name) for name in ("bits per byte", "eval_loss", "masked accuracy")]
        [-1, -1, None]

        :param name: of the dataset or figure
        """
        if self is Measure.SCORE:
            return 1
        return -1 if self is Measure.LOSS or LOWER.search(name) else None

    def protocol_of(self, protocol: str) -> str:
        """The protocol of its values; "" for figures, which no fine-tuning decides."""
        return "" if self is Measure.FIGURE else protocol

    def split_of(self, scores: Split) -> str:
        """The split of its values, beside scores of some split; "" for figures."""
        return {Measure.SCORE: scores, Measure.LOSS: "dev", Measure.FIGURE: ""}[self]
