"""The metrics of `blurb.metrics` as `evaluate.Metric` objects, for use with Hugging Face `evaluate`.

    from blurb.metrics import hf
    metric = hf.load("entity_f1", strict=True)
    metric.compute(references=[["B", "I", "O"]], predictions=[["B", "I", "O"]])

Import this module only if needed: `evaluate` imports torch, which takes seconds. Nothing is downloaded from the Hub.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import datasets
import evaluate

from blurb.metrics import get


class FunctionMetric(evaluate.Metric):  # type: ignore[misc]  # evaluate has no types
    """A metric of blurb with bound options, as an `evaluate.Metric`."""

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        self.ours, self.options = get(name), options
        value = datasets.Value(self.ours.dtype)
        self.feature = datasets.Sequence(value) if self.ours.sequence else value
        # evaluate makes a cache folder even for a metric that stays in memory. Its default is in the home, which is
        # read-only on some clusters; this one is gone before the metric is used.
        with tempfile.TemporaryDirectory() as folder:
            super().__init__(keep_in_memory=True, cache_dir=folder)
        self.info.module_name = (
            name  # not that of this class: `evaluate.combine` tells metrics apart by it
        )

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=self.ours.function.__doc__ or "",
            citation="",
            features=datasets.Features({"predictions": self.feature, "references": self.feature}),
        )

    def _compute(self, predictions: Sequence[Any], references: Sequence[Any]) -> dict[str, float]:
        return self.ours(references, predictions, **self.options)


def load(name: str, **options: Any) -> evaluate.Metric:
    """The metric of that name (see `blurb.metrics.get`) with bound options, as from `evaluate.load`.

    Options are the keyword arguments of the function: `strict`, `labels`, `negative`, `positive`, `low`, `high`.
    Raises `blurb.messages.errors.UnknownName` for an unknown name.
    """
    return FunctionMetric(name, options)
