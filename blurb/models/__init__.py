"""From a model reference to a learner with `fit(train, dev, ...)` and `predict(units)`."""

from __future__ import annotations

from typing import Any

from blurb import checkpoints
from blurb.checkpoints import Source
from blurb.formulations._base import Formulation
from blurb.models._base import Learner, Subset

__all__ = ["Learner", "Source", "Subset", "learner", "resolve"]


def resolve(reference: str, name: str | None = None, **options: Any) -> Source:
    """Resolves a reference to a baseline (`baseline:majority`) or a checkpoint.

    :param options: of a checkpoint, see `blurb.checkpoints.resolve`
    :raises ModelError: says what is missing and what to do
    """
    if reference.startswith("baseline:"):
        from blurb.models import baselines

        kind = baselines.named(reference.removeprefix("baseline:"))
        return Source(name or f"baseline:{kind}", "baseline", kind, weights=f"baseline:{kind}")
    return checkpoints.resolve(reference, name, **options)


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
