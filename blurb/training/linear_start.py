"""Initialises the head with a linear fit on the features of the pretrained encoder, before both are fine-tuned.

Linear probing then fine-tuning (Kumar et al., arXiv 2202.10054): a randomly initialised head distorts the encoder until
it has converged. The fit uses standardised features, and so does the head during training: standard deviations are a
tenth of the means, so with raw features a step of the head would change little but the bias. After training, the
standardisation is folded into weight and bias (`fold`).
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from blurb.heads._base import Head, OutputKind
from blurb.inputs.features import Features
from blurb.training.batches import Targets
from blurb.training.linear import Design, feature_moments, solve_linear
from blurb.training.loop import Trainer

NEAR = 1e-10
"""Tolerance of the fit; it cannot change, as finished trials used it."""
MOST_EXAMPLES = 50_000
"""Number of words to fit on in token tasks: more words take longer and do not change the scores."""
STRENGTH = 0.05
"""Strength of the penalty per row: times the number of rows it is `1 / C` of scikit-learn's logistic regression and
`alpha` of its ridge. A weak penalty fits train so well that nothing is left to learn, and the first steps of the
encoder undo its large weights (docs/results/protocol-study)."""


class StandardisedLinear(nn.Linear):
    """A linear layer on standardised features."""

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
        """The equivalent layer for raw features."""
        plain = nn.Linear(self.in_features, self.out_features, device=self.weight.device)
        plain.weight.copy_(self.weight / self.sd)
        plain.bias.copy_(self.bias - plain.weight @ self.mean)
        return plain


def linear_start(
    trainer: Trainer, features: Features, targets: Targets, seed: int
) -> dict[str, float]:
    """Gives the head `linear` its fitted layer; returns facts for the provenance.

    :param targets: targets of all examples of `features`
    """
    head = trainer.network.head
    x, y = trainer.head_features(features, targets)
    if len(x) > MOST_EXAMPLES:
        chosen = np.sort(np.random.default_rng(seed).choice(len(x), MOST_EXAMPLES, replace=False))
        x, y = x[chosen], y[chosen]
    layer, loss = fit(x, y, head.problem.kind, len(head.problem.labels), STRENGTH * len(x))
    head.linear = layer.to(trainer.device)
    return {"rows": len(x), "loss": round(loss, 6)}


def end_linear_start(head: Head) -> None:
    """Ends a linear start: from now on the head uses raw features, like every other linear head."""
    if isinstance(head.linear, StandardisedLinear):
        head.linear = head.linear.folded()


def fit(
    x: Tensor, y: Tensor, kind: OutputKind, labels: int, strength: float
) -> tuple[StandardisedLinear, float]:
    """The regularised fit and its mean loss.

    :param x: (rows, size), float32
    :param y: (rows,) classes or numbers, (rows, labels) for several labels
    :param strength: strength of the penalty on the weights of standardised features; the bias has no penalty
    """
    mean, sd = feature_moments(x)
    found = solve_linear(Design((x - mean) / sd), y, kind, labels, strength, near=NEAR)
    return StandardisedLinear(found.weight, found.bias, mean, sd), found.loss
