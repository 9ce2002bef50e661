"""The score of always predicting the most frequent answer, as a baseline."""

from __future__ import annotations

from collections.abc import Sequence

from blurb import formulations
from blurb.data.schema import Example
from blurb.tasks import Task


def majority_score(task: Task, train: Sequence[Example], rows: Sequence[Example]) -> float:
    """The task's score, as a fraction, of always predicting the most frequent answer of train."""
    formulation = formulations.bind(task)
    answer = formulation.constants(formulation.units(train))[0]
    units = formulation.units(rows)
    predicted = [formulation.constant(answer, unit) for unit in units]
    return float(formulation.score_of(units, predicted))
