"""What to say beside a pass: of a large drop that the test could not see, and what would see it."""

from __future__ import annotations

import math

from blurb.messages.text import plural
from blurb.regression.rules import Limit
from blurb.results import predictions
from blurb.results.comparison import LARGE, ScoreComparison, seen_alone
from blurb.results.row_scores import RowScores
from blurb.statistics.welch import LEVEL
from blurb.tasks import Split

USUAL = 5.0
"""The limit that the guide recommends, in points."""


def of_pass(line: ScoreComparison, limit: Limit, candidate: RowScores, split: Split, level: float = LEVEL) -> str:
    """What to say of a dataset that passes; "" unless it dropped by much and no `max_drop` judged that.

    :param level: two-sided, at which the hint says what the test could have seen
    """
    drop = -(line.difference or 0.0)
    detectable = line.comparison.detectable_at(level)
    if limit.max_drop is not None or drop < LARGE or detectable is None:
        return ""
    count = examples(candidate, line.name, split)
    beside = f" and {plural(count, 'example')}" if count else ""
    return (
        f"passes with a drop of {drop:.2f} points, which the test cannot tell from chance: with "
        f"{line.runs[1]} / {line.runs[0]} runs{beside} {seen_alone(detectable)}; "
        f"--max-drop {_limit(drop):g} judges it"
    )


def _limit(drop: float) -> float:
    """A limit that the drop breaks: the usual one, or a lower one of whole or half points."""
    return min(USUAL, math.floor(drop * 2 - 1e-9) / 2)


def examples(row: RowScores, name: str, split: Split) -> int:
    """The number of scored examples of a dataset; 0 if that is not known, as a table alone has none."""
    records = row.records_of(name)
    if not records:
        return 0
    seed, record = next(iter(records.items()))
    return len(predictions.mistakes({seed: record}, split))
