"""Regularised linear fits on fixed features: ridge in closed form, logistic regressions by L-BFGS.

The objective is scikit-learn's (`LogisticRegression(C=1 / strength)`, `Ridge(alpha=strength)`, no penalty on the bias),
which is the oracle in the tests; of two classes each has a vector here and is penalised, so that `C` is 2 / strength.
On 100,000 words scikit-learn takes minutes where this takes seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from blurb.heads._base import Kind

STEPS = 200
NEAR = 1e-6
"""A step that lowers the mean loss by less is the last one: half the steps of 1e-10, and the same scores on dev."""


@dataclass(frozen=True)
class Design:
    """What a linear model reads, row by row.

    :param z: (rows, size), standardised
    :param same: (rows - 1, 1), 1 where a row and the next are neighbours (words of a sentence): a row is then read with
        the one before and the one after it, zeros where there is none, as (before, itself, after); None reads it alone
    """

    z: Tensor
    same: Tensor | None = None

    def __len__(self) -> int:
        return len(self.z)

    @property
    def width(self) -> int:
        """Features of a row, its neighbours' included."""
        return self.z.shape[1] * (1 if self.same is None else 3)

    def scores(self, weight: Tensor) -> Tensor:
        """(rows, outputs) of a weight (outputs, width), without copying the rows for their neighbours."""
        if self.same is None:
            return self.z @ weight.T
        outputs = len(weight)
        parts = self.z @ torch.cat(torch.split(weight, self.z.shape[1], 1)).T  # (rows, 3 * outputs)
        before, own, after = torch.split(parts, outputs, 1)
        total: Tensor = own + functional.pad(before[:-1] * self.same, (0, 0, 1, 0))
        return total + functional.pad(after[1:] * self.same, (0, 0, 0, 1))

    def take(self, kept: Tensor) -> Design:
        """The rows that a mask (rows,) keeps; neighbours stay so where both are kept side by side."""
        if self.same is None:
            return Design(self.z[kept])
        places = kept.nonzero().squeeze(1)
        beside = (places[1:] - places[:-1] == 1).unsqueeze(1)
        return Design(self.z[places], self.same[places[:-1]] * beside)


@dataclass(frozen=True)
class Fit:
    """A fitted model on standardised features.

    :param weight: (outputs, width)
    :param bias: (outputs,)
    :param loss: mean loss on its rows, the penalty included
    """

    weight: Tensor
    bias: Tensor
    loss: float

    def scores(self, rows: Design) -> Tensor:
        """(rows, outputs)."""
        return rows.scores(self.weight) + self.bias


def moments(x: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of each feature, (size,) each; that of one that never changes is 1e-6."""
    return x.mean(0), x.std(0, correction=0).clamp_min(1e-6)


def solve(
    rows: Design,
    y: Tensor,
    kind: Kind,
    labels: int,
    strength: float,
    start: Fit | None = None,
    near: float | None = None,
) -> Fit:
    """The regularised fit.

    :param y: (rows,) classes or numbers, (rows, labels) for several labels
    :param start: a fit to begin with, such as that of another strength
    :param near: instead of `NEAR`
    """
    if kind == "regression":
        weight, bias = ridge(rows.z, y.to(rows.z.dtype), strength)
        loss = functional.mse_loss(rows.z @ weight.T + bias, y.to(rows.z.dtype).unsqueeze(1))
        return Fit(weight, bias, float(loss))
    return logistic(rows, y, kind, labels, strength, start, NEAR if near is None else near)


def ridge(z: Tensor, y: Tensor, strength: float) -> tuple[Tensor, Tensor]:
    """In closed form, in float64: (size, size) is small."""
    z, centre = z.double(), y.double().mean()
    gram = z.T @ z + strength * torch.eye(z.shape[1], dtype=z.dtype)
    weight = torch.linalg.solve(gram, z.T @ (y.double() - centre))
    return weight.float().unsqueeze(0), centre.float().reshape(1)


def logistic(rows: Design, y: Tensor, kind: Kind, labels: int, strength: float, start: Fit | None, near: float) -> Fit:
    """All labels in one L-BFGS; for several labels that is one binary fit a label, as they share no weights."""
    weight = torch.zeros(labels, rows.width) if start is None else start.weight.clone()
    bias = torch.zeros(labels) if start is None else start.bias.clone()
    for free in (weight, bias):
        free.requires_grad_()
    optimizer = torch.optim.LBFGS(
        [weight, bias], max_iter=STEPS, history_size=20, tolerance_grad=1e-6, tolerance_change=near,
        line_search_fn="strong_wolfe",
    )  # fmt: skip

    def objective() -> Tensor:
        logits = rows.scores(weight) + bias
        if kind == "multi":
            total = functional.binary_cross_entropy_with_logits(logits, y.to(logits.dtype), reduction="sum")
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
