"""Regularised linear fits on fixed features: ridge in closed form, logistic regressions by L-BFGS.

The objective is that of scikit-learn (`LogisticRegression(C=1 / strength)`, `Ridge(alpha=strength)`, no penalty on the
bias), the oracle of the tests. With two classes both have a penalised vector here, so that `C` is 2 / strength. On
100,000 words this takes seconds, scikit-learn minutes.

A fit on the features of the pretrained encoder can initialise the head before both are fine-tuned. Linear probing then
fine-tuning (Kumar et al., arXiv 2202.10054): a randomly initialised head distorts the encoder until it has converged.
The fit uses standardised features, and so does the head during training: standard deviations are a tenth of the means,
so with raw features a step of the head would change little but the bias. After training, the standardisation is folded
into weight and bias (`end_linear_start`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from blurb.heads._base import Head, OutputKind
from blurb.inputs.features import Features
from blurb.training.batches import Targets
from blurb.training.loop import Trainer

STEPS = 200
NEAR = 1e-6
"""Stop when a step lowers the mean loss by less: half the steps of 1e-10. On GAD the layer, penalty and shift that are
chosen stay the same, and scores on dev and test differ by one or two examples (0.1 to 0.2 points)."""


@dataclass(frozen=True)
class Design:
    """The design matrix of a linear model.

    :param z: (rows, size), standardised
    :param same: (rows - 1, 1), 1 if a row and the next are neighbours (words of a sentence): the features of a row are
        then (previous, itself, next), with zeros if there is no neighbour; None uses each row alone
    """

    z: Tensor
    same: Tensor | None = None

    def __len__(self) -> int:
        return len(self.z)

    @property
    def width(self) -> int:
        """Number of features per row, including those of its neighbours."""
        return self.z.shape[1] * (1 if self.same is None else 3)

    def scores(self, weight: Tensor) -> Tensor:
        """(rows, outputs) for a weight (outputs, width), without copying rows for their neighbours."""
        if self.same is None:
            return self.z @ weight.T
        outputs = len(weight)
        parts = self.z @ torch.cat(torch.split(weight, self.z.shape[1], 1)).T  # (rows, 3 * outputs)
        before, own, after = torch.split(parts, outputs, 1)
        total: Tensor = own + functional.pad(before[:-1] * self.same, (0, 0, 1, 0))
        return total + functional.pad(after[1:] * self.same, (0, 0, 0, 1))

    def take(self, kept: Tensor) -> Design:
        """The rows selected by a mask (rows,); neighbours stay neighbours if both are selected."""
        if self.same is None:
            return Design(self.z[kept])
        places = kept.nonzero().squeeze(1)
        return Design(
            self.z[places], self.same[places[:-1]] * (places[1:] - places[:-1] == 1).unsqueeze(1)
        )


@dataclass(frozen=True)
class Fit:
    """A fitted model on standardised features.

    :param weight: (outputs, width)
    :param bias: (outputs,)
    :param loss: mean loss on its rows, including the penalty
    """

    weight: Tensor
    bias: Tensor
    loss: float

    def scores(self, rows: Design) -> Tensor:
        """(rows, outputs)."""
        return rows.scores(self.weight) + self.bias


def feature_moments(x: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of each feature, (size,) each; the deviation of a constant feature is 1e-6."""
    return x.mean(0), x.std(0, correction=0).clamp_min(1e-6)


def solve_linear(
    rows: Design,
    y: Tensor,
    kind: OutputKind,
    labels: int,
    strength: float,
    start: Fit | None = None,
    near: float = NEAR,
) -> Fit:
    """Fits a regularised linear model.

    :param y: (rows,) classes or numbers, (rows, labels) for several labels
    :param start: initial fit, such as that of another strength
    :param near: tolerance, as of `NEAR`
    """
    if kind == "regression":
        weight, bias = ridge(rows.z, y.to(rows.z.dtype), strength)
        loss = functional.mse_loss(rows.z @ weight.T + bias, y.to(rows.z.dtype).unsqueeze(1))
        return Fit(weight, bias, float(loss))
    return logistic(rows, y, kind, labels, strength, start, near)


def ridge(z: Tensor, y: Tensor, strength: float) -> tuple[Tensor, Tensor]:
    """Ridge regression in closed form, in float64, as (size, size) is small."""
    z, centre = z.double(), y.double().mean()
    gram = z.T @ z + strength * torch.eye(z.shape[1], dtype=z.dtype)
    weight = torch.linalg.solve(gram, z.T @ (y.double() - centre))
    return weight.float().unsqueeze(0), centre.float().reshape(1)


def logistic(
    rows: Design,
    y: Tensor,
    kind: OutputKind,
    labels: int,
    strength: float,
    start: Fit | None,
    near: float,
) -> Fit:
    """Logistic regression by L-BFGS; several labels are independent binary fits, as they share no weights."""
    weight = torch.zeros(labels, rows.width) if start is None else start.weight.clone()
    bias = torch.zeros(labels) if start is None else start.bias.clone()
    for free in (weight, bias):
        free.requires_grad_()
    optimizer = torch.optim.LBFGS(
        [weight, bias],
        max_iter=STEPS,
        history_size=20,
        tolerance_grad=1e-6,
        tolerance_change=near,
        line_search_fn="strong_wolfe",
    )

    def objective() -> Tensor:
        logits = rows.scores(weight) + bias
        if kind == "multi":
            total = functional.binary_cross_entropy_with_logits(
                logits, y.to(logits.dtype), reduction="sum"
            )
        else:
            total = functional.cross_entropy(logits, y, reduction="sum")
        return (total + strength / 2 * (weight**2).sum()) / len(rows)

    def closure() -> Tensor:
        optimizer.zero_grad()
        value = objective()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(closure)  # type: ignore[no-untyped-call]
    with torch.no_grad():
        return Fit(weight.detach(), bias.detach(), float(objective()))


NEAR_OF_START = 1e-10
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
    found = solve_linear(Design((x - mean) / sd), y, kind, labels, strength, near=NEAR_OF_START)
    return StandardisedLinear(found.weight, found.bias, mean, sd), found.loss
