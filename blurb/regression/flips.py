"""Which examples became worse, and which better."""

from __future__ import annotations

from blurb.results import predictions
from blurb.results.row_scores import RowScores
from blurb.tasks import Split

FLIP = 0.5
"""Least change in mistakes per run of an example that counts as changed."""


def flips(
    first: RowScores, other: RowScores, name: str, split: Split
) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
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
