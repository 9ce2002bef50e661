"""The metrics of BLURB: pure functions from gold and predictions to a dictionary whose first entry is the score.

    >>> from blurb import metrics
    >>> metrics.get("accuracy")(["yes", "no"], ["yes", "yes"])
    {'accuracy': 0.5}

All values are fractions (tables multiply them by 100) and never NaN: undefined values are 0.0. `blurb.metrics.hf` has
the same functions as `evaluate.Metric`; it is not imported here because `evaluate` loads torch.

A metric is one module in `functions/`, or an entry point in the group `blurb.metrics`, that declares a `Metric`: the
function, its form as a function of sums over examples, to score many resamples of a test set quickly (true positives,
predictions and gold for F1, correct answers for accuracy, moments for Pearson's r), and its names in tables, `evaluate`
and the Hub.
"""

from __future__ import annotations

from blurb.metrics._metric import Counts, Metric, Scores
from blurb.metrics.functions.accuracy import accuracy
from blurb.metrics.functions.binary_f1 import binary_f1
from blurb.metrics.functions.entity_f1 import entity_counts, entity_f1
from blurb.metrics.functions.macro_f1 import macro_f1
from blurb.metrics.functions.micro_f1_without import micro_f1_without
from blurb.metrics.functions.multilabel_f1 import multilabel_f1
from blurb.metrics.functions.pearson import pearson
from blurb.metrics.functions.token_macro_f1 import token_macro_f1
from blurb.registry import Registry

__all__ = [
    "VERSION",
    "Counts",
    "Metric",
    "Scores",
    "accuracy",
    "binary_f1",
    "entity_counts",
    "entity_f1",
    "get",
    "known",
    "macro_f1",
    "micro_f1_without",
    "multilabel_f1",
    "names",
    "pearson",
    "token_macro_f1",
    "usable",
]

VERSION = 1  # raised by hand when a value changes for the same predictions: stored scores are then recomputed

_registry: Registry[Metric] = Registry(
    "metric",
    "blurb.metrics.functions",
    "METRIC",
    "blurb.metrics",
    "blurb.metrics:Metric",
    separator="_",
)


def names() -> list[str]:
    """The names of all metrics in alphabetical order."""
    return _registry.names()


def get(name: str) -> Metric:
    """The metric of that name; raises `UnknownName` with the closest name if it does not exist."""
    return _registry.get(name)


def known(name: str) -> Metric | None:
    """The metric of that name; None if there is none, or only a plug-in that is broken, of which a note tells."""
    return _registry.known(name)


def usable() -> list[Metric]:
    """All metrics but plug-ins that are broken."""
    return [*_registry.usable().values()]
