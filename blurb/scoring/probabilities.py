"""Answers that a file gives as probabilities of labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from blurb.scoring.columns import Answer, AnswerFile

ROUNDED = 0.02
"""How far from 1 the sum of rounded probabilities may be."""


def read(value: Mapping[str, Any], file: AnswerFile, answer: Answer, whole: bool) -> dict[str, float]:
    """The probability of each label.

    :param whole: whether just one label is right, so that the probabilities have the sum 1
    :raises DataError: (file, line) for what is no probability, such as a percentage
    """
    shares = {}
    for name, given in value.items():
        share = math.nan if isinstance(given, bool | str) or given is None else float(given)
        if not 0 <= share <= 1:
            fix = "Divide percentages by 100." if 1 < share <= 100 else ""
            raise file.error(f"{given!r} of {name[:40]!r} is no probability, which is from 0 to 1.", answer, fix=fix)
        shares[name] = share
    total = sum(shares.values())
    if not shares:
        raise file.error("there are no probabilities of labels.", answer)
    if whole and abs(total - 1) > ROUNDED:
        raise file.error(f"the probabilities of the labels have the sum {total:g}, not 1.", answer)
    return shares


def most_probable(shares: Mapping[str, float]) -> str:
    """The label of the greatest probability, the first of equal ones."""
    return max(shares, key=lambda name: shares[name])


def probable(shares: Mapping[str, float]) -> list[str]:
    """The labels that are rather right than wrong."""
    return [name for name, share in shares.items() if share > 0.5]
