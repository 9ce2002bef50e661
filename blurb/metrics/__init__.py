"""The metrics of BLURB: pure functions from gold and predictions to a dictionary whose first entry is the score.

    >>> from blurb import metrics
    >>> metrics.get("accuracy")(["yes", "no"], ["yes", "yes"])
    {'accuracy': 0.5}

All values are fractions (times 100 is for the tables), and never NaN: what is undefined is 0.0. The same functions as
`evaluate.Metric` are in `blurb.metrics.hf`, which is not imported here because `evaluate` loads torch.
"""

from __future__ import annotations

from collections.abc import Callable

from blurb.errors import UnknownName
from blurb.metrics.correlation import pearson
from blurb.metrics.entity import entity_counts, entity_f1
from blurb.metrics.labels import accuracy, binary_f1, micro_f1_without
from blurb.metrics.multilabel import multilabel_f1
from blurb.metrics.words import token_macro_f1

__all__ = [
    "MAIN",
    "METRICS",
    "VERSION",
    "Metric",
    "accuracy",
    "binary_f1",
    "entity_counts",
    "entity_f1",
    "get",
    "micro_f1_without",
    "multilabel_f1",
    "pearson",
    "token_macro_f1",
]

VERSION = 1  # raised by hand when a value changes for the same predictions: stored scores are then computed anew

Metric = Callable[..., dict[str, float]]

METRICS: dict[str, Metric] = {
    "entity_f1": entity_f1,
    "token_macro_f1": token_macro_f1,
    "micro_f1_without": micro_f1_without,
    "binary_f1": binary_f1,
    "pearson": pearson,
    "multilabel_f1": multilabel_f1,
    "accuracy": accuracy,
}


MAIN = {
    "entity_f1": "f1",
    "token_macro_f1": "macro_f1",
    "micro_f1_without": "f1",
    "binary_f1": "f1",
    "pearson": "pearson",
    "multilabel_f1": "micro_f1",
    "accuracy": "accuracy",
}
"""The figure of each that counts: the first that it returns."""


def get(name: str) -> Metric:
    """The metric of that name; raises `blurb.errors.UnknownName` with the closest name if there is none."""
    if name not in METRICS:
        raise UnknownName("metric", name, METRICS)
    return METRICS[name]
