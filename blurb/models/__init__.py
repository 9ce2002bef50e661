"""From a model reference to a learner: `fit(train, dev, ...)`, then `predict(units)`."""

from __future__ import annotations

from blurb.formulations._base import Formulation
from blurb.models._base import Learner, Units
from blurb.models.source import Source, resolve

__all__ = ["Learner", "Source", "Units", "learner", "resolve"]


def learner(source: Source, formulation: Formulation, device: str, precision: str) -> Learner:
    """The learner of a source, bound to a task."""
    if source.kind == "baseline":
        from blurb.models.baseline import BASELINES

        return BASELINES[source.location](formulation)
    from blurb.models.encoder import EncoderLearner

    return EncoderLearner(source, formulation, device, precision)  # type: ignore[arg-type]
