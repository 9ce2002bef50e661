"""What to say beside a pass: of a large drop that the test could not see, and what would see it."""

from __future__ import annotations

import math

from blurb.messages.text import plural
from blurb.regression.rules import Limit
from blurb.results import predictions
from blurb.results.comparison import LARGE, ScoreComparison, seen_alone
from blurb.results.row import Row
from blurb.statistics.welch import LEVEL
from blurb.tasks import Split

USUAL = 5.0
"""The limit that the guide recommends, in points."""


def of_pass(line: ScoreComparison, limit: Limit, candidate: Row, split: Split, level: float = LEVEL) -> str:
    """What to say of a dataset that passes; "" unless it dropped by much and no `max_drop` judged that.

    :param level: two-sided, at which the hint says what the test could have seen
    """
    drop = -(line.difference or 0.0)
    detectable = line.comparison.detectable_at(level)
    if limit.max_drop is not None or drop < LARGE or detectable is None:
        return ""
    count = examples(candidate, line.name, split)
    beside = f" and {plural(count, 'example')}" if count else ""
    broken = min(USUAL, math.floor(drop * 2 - 1e-9) / 2)  # the usual limit, or a lower one of whole or half points
    return (
        f"passes with a drop of {drop:.2f} points, which the test cannot tell from chance: with "
        f"{line.runs[1]} / {line.runs[0]} runs{beside} {seen_alone(detectable)}; "
        f"--max-drop {broken:g} judges it"
    )


def examples(row: Row, name: str, split: Split) -> int:
    """The number of scored examples of a dataset; 0 if that is not known, as a table alone has none."""
    records = row.records_of(name)
    if not records:
        return 0
    seed, record = next(iter(records.items()))
    return len(predictions.mistakes({seed: record}, split))


FLIP = 0.5
"""Least change in mistakes per run of an example that counts as changed."""


def flips(first: Row, other: Row, name: str, split: Split) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """Examples that became worse, and better, with the change in mistakes per run; the largest changes first.

    An example counts if it changed by at least `FLIP` mistakes per run; the mistake of a similarity is its distance.
    """
    records = first.records_of(name), other.records_of(name)
    if not records[0] or not records[1]:
        return [], []
    before, after = predictions.mistakes(records[0], split), predictions.mistakes(records[1], split)
    changes = [(unit, after[unit] - before[unit]) for unit in before if unit in after]
    order = sorted(changes, key=lambda change: (-abs(change[1]), change[0]))
    return ([change for change in order if change[1] >= FLIP], [change for change in order if change[1] <= -FLIP])
