"""From a model reference to a learner with `fit(train, dev, ...)` and `predict(units)`."""

from __future__ import annotations

from blurb.formulations._base import Formulation
from blurb.models._base import Learner, Subset
from blurb.models.source import Source, resolve

__all__ = ["Learner", "Source", "Subset", "learner", "resolve"]


def learner(source: Source, formulation: Formulation, device: str, precision: str, kind: str = "") -> Learner:
    """The learner of a source, bound to a task.

    :param kind: "probe" freezes the encoder; "" fine-tunes it
    """
    if source.kind == "baseline":
        from blurb.models import baselines

        return baselines.learner(source.location, formulation, device)
    if kind == "probe":
        from blurb.models.probe import ProbeLearner

        return ProbeLearner(source, formulation, device, precision)  # type: ignore[arg-type]
    from blurb.models.encoder import EncoderLearner

    return EncoderLearner(source, formulation, device, precision)  # type: ignore[arg-type]
