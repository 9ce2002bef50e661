"""The score of one answer for all examples, the floor of a score, from the gold answers stored with predictions."""

from __future__ import annotations

import statistics

from blurb import formulations
from blurb.messages.errors import BlurbError
from blurb.results.row import Row
from blurb.store.record import Record
from blurb.tasks import Split

SAME = 0.005
"""Difference below which two scores are equal in print."""


_known: dict[tuple[object, ...], float | None] = {}


def best_constant(row: Row, task: str, split: Split = "test") -> float | None:
    """The best score of a constant answer on the examples that a row was scored on, times 100, as a mean over its runs.

    :returns: None without predictions, or if the task's plug-in is not installed
    """
    records = list(row.records_of(task).values())
    if not records:
        return None
    if not row.limits("max_eval").get(task):  # else every seed may have examples of its own
        records = records[:1]
    found = [_of_trial(record, split) for record in records]
    known = [value for value in found if value is not None]
    return 100 * statistics.fmean(known) if known and len(known) == len(found) else None


def equals_a_constant(row: Row | None, task: str, split: Split = "test") -> bool:
    """Whether a score is that of the best constant answer, as printed; False without a row."""
    if row is None:
        return False
    floor, mean = best_constant(row, task, split), row.means(split).get(task)
    return floor is not None and mean is not None and abs(mean - floor) < SAME


def _of_trial(record: Record, split: Split) -> float | None:
    try:
        declared, trial = record.task, record.trial
        columns = record.predictions(split)
        formulation = formulations.bind(declared, trial.settings)
        examples = declared.name, trial.data, repr(formulation.options), split, hash(tuple(columns["id"]))
        if examples not in _known:  # the rows of a run mostly were scored on the same
            _known[examples] = formulation.best_constant(columns["gold"], columns["doc_id"])
        return _known[examples]
    except (BlurbError, ValueError, KeyError, TypeError, OSError):  # a plug-in that is gone, or damage told elsewhere
        return None
