"""The turn of a candidate in a series of looks: its level, and what the checkpoints before it say of the variance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from blurb.statistics.pooled import Squares


@dataclass(frozen=True)
class Turn:
    """A look of a series.

    :param number: from 1
    :param looks: how many are planned; None for any number
    :param level: its part of `total`; 0 after the last planned look
    :param spent: of `total`, with this look
    :param repeated: whether the same candidate was judged before, at this number; that spends nothing
    :param series: for each look before this one, by name: dataset -> what its runs say of their variance
    :param refused: why nothing can be judged; "" if it can
    :param where: the state file
    """

    number: int
    looks: int | None
    level: float
    total: float
    spent: float
    repeated: bool = False
    series: Mapping[str, Mapping[str, Squares]] = field(default_factory=dict, repr=False)
    refused: str = ""
    where: str = ""

    @property
    def text(self) -> str:
        """The look in words, for reports; "" if nothing could be judged."""
        if self.refused:
            return ""
        number = f"Look {self.number}" + (f" of {self.looks}" if self.looks else "")
        again = ", seen before: nothing is spent again" if self.repeated else ""
        return f"{number}{again}. Its level is {self.level:.3g}; {self.spent:.3g} of {self.total:g} is spent."
