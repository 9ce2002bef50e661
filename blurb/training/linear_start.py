"""The head starts from a linear fit on its own features at the untouched encoder, then all is fine-tuned.

Linear probing then fine-tuning (Kumar et al., arXiv 2202.10054): a head that starts at random distorts the encoder
while it is still far off. The fit is regularised on standardised features; the standardisation is folded into weights.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from blurb.heads._base import Kind
from blurb.inputs.features import Features
from blurb.training.linear import Design, moments, solve
from blurb.training.loop import Targets, Trainer

NEAR = 1e-10
"""The fit goes on to the last digit: finished trials have it."""
MOST = 50_000
"""Words of token tasks that the fit is made on: more of them add seconds and no digit."""
STRENGTH = 10.0
"""Of the penalty: scikit-learn's `1 / C` of a logistic regression, and its `alpha` of a ridge. At 1 the weights are so
large that the first steps of the encoder undo the fit (docs/results/protocol-study)."""


def linear_start(trainer: Trainer, features: Features, targets: Targets, seed: int) -> dict[str, float]:
    """Sets weight and bias of the head `linear`; returns what the provenance tells of it.

    :param targets: of all units of `features`
    """
    head = trainer.network.head
    x, y = trainer.head_features(features, targets)
    if len(x) > MOST:
        chosen = np.sort(np.random.default_rng(seed).choice(len(x), MOST, replace=False))
        x, y = x[chosen], y[chosen]
    weight, bias, loss = fit(x, y, head.problem.kind, len(head.problem.labels), STRENGTH)
    with torch.no_grad():
        linear = head.get_submodule("linear")
        linear.weight.copy_(weight)  # type: ignore[operator]
        linear.bias.copy_(bias)  # type: ignore[operator]
    return {"rows": len(x), "loss": round(loss, 6)}


def fit(x: Tensor, y: Tensor, kind: Kind, labels: int, strength: float) -> tuple[Tensor, Tensor, float]:
    """Weight (labels, size) and bias (labels,) of the regularised fit, and the mean loss that it reaches.

    :param x: (rows, size), float32
    :param y: (rows,) classes or numbers, (rows, labels) for several labels
    :param strength: of the penalty on the standardised weights; the bias has none
    """
    mean, sd = moments(x)
    found = solve(Design((x - mean) / sd), y, kind, labels, strength, near=NEAR)
    weight = found.weight / sd
    return weight, found.bias - weight @ mean, found.loss
