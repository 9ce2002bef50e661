"""The head starts from a linear fit on its own features at the untouched encoder, then all is fine-tuned.

Linear probing then fine-tuning (Kumar et al., arXiv 2202.10054): a head that starts at random distorts the encoder
while it is still far off. The fit is on standardised features, and the head goes on learning in them: their standard
deviations are a tenth of their means, so in raw features a step of the head would change little but the bias. When all
has learned, the standardisation is folded into weight and bias (`fold`).
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from blurb.heads._base import Head, Kind
from blurb.inputs.features import Features
from blurb.training.linear import Design, moments, solve
from blurb.training.loop import Targets, Trainer

NEAR = 1e-10
"""The fit goes on to the last digit: finished trials have it."""
MOST = 50_000
"""Words of token tasks that the fit is made on: more of them add seconds and no digit."""
STRENGTH = 0.05
"""Of the penalty, a row: times the number of rows it is scikit-learn's `1 / C` of a logistic regression and its
`alpha` of a ridge. A weak one fits train so well that nothing is left to learn, and its large weights are undone by the
first steps of the encoder (docs/results/protocol-study)."""


class StandardisedLinear(nn.Linear):
    """A linear layer on features less their mean, over their standard deviation."""

    mean: Tensor
    sd: Tensor

    def __init__(self, weight: Tensor, bias: Tensor, mean: Tensor, sd: Tensor) -> None:
        super().__init__(weight.shape[1], weight.shape[0])
        self.weight, self.bias = nn.Parameter(weight), nn.Parameter(bias)
        self.register_buffer("mean", mean)
        self.register_buffer("sd", sd)

    def forward(self, features: Tensor) -> Tensor:
        """(..., size) to (..., labels)."""
        return super().forward((features - self.mean) / self.sd)

    @torch.no_grad()
    def folded(self) -> nn.Linear:
        """The same scores from raw features."""
        plain = nn.Linear(self.in_features, self.out_features, device=self.weight.device)
        plain.weight.copy_(self.weight / self.sd)
        plain.bias.copy_(self.bias - plain.weight @ self.mean)
        return plain


def linear_start(trainer: Trainer, features: Features, targets: Targets, seed: int) -> dict[str, float]:
    """Gives the head `linear` its fitted layer; returns what the provenance tells of it.

    :param targets: of all units of `features`
    """
    head = trainer.network.head
    x, y = trainer.head_features(features, targets)
    if len(x) > MOST:
        chosen = np.sort(np.random.default_rng(seed).choice(len(x), MOST, replace=False))
        x, y = x[chosen], y[chosen]
    layer, loss = fit(x, y, head.problem.kind, len(head.problem.labels), STRENGTH * len(x))
    head.linear = layer.to(trainer.device)
    return {"rows": len(x), "loss": round(loss, 6)}


def fold(head: Head) -> None:
    """Ends a linear start: the head reads raw features again, as every other of its kind."""
    if isinstance(head.linear, StandardisedLinear):
        head.linear = head.linear.folded()


def fit(x: Tensor, y: Tensor, kind: Kind, labels: int, strength: float) -> tuple[StandardisedLinear, float]:
    """The regularised fit, and the mean loss that it reaches.

    :param x: (rows, size), float32
    :param y: (rows,) classes or numbers, (rows, labels) for several labels
    :param strength: of the penalty on the weights of standardised features; the bias has none
    """
    mean, sd = moments(x)
    found = solve(Design((x - mean) / sd), y, kind, labels, strength, near=NEAR)
    return StandardisedLinear(found.weight, found.bias, mean, sd), found.loss
