"""Regularised linear fits on fixed features: ridge in closed form, logistic regressions by L-BFGS.

The objective is scikit-learn's (`LogisticRegression(C=1 / strength)`, `Ridge(alpha=strength)`, no penalty on the bias),
which is the oracle in the tests; of two classes each has a vector here and is penalised, so that `C` is 2 / strength.
On 100,000 words scikit-learn takes minutes where this takes seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional

from blurb.heads._base import Kind

STEPS = 200
NEAR = 1e-6
"""A step that lowers the mean loss by less is the last one of a prepared fit: scores on dev change no more."""
SAMPLE = 8_192
"""Rows that the change of variables is made from: it decides the speed, and not where the fit ends."""


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

    def sample(self, most: int) -> Tensor:
        """(at most `most` rows, width), rows at equal distances."""
        rows = torch.arange(0, len(self), max(1, -(-len(self) // most)))
        if self.same is None:
            return self.z[rows]
        ends = functional.pad(self.same, (0, 0, 1, 1))  # (rows + 1, 1): whether there is a row before, or after
        before = self.z[(rows - 1).clamp_min(0)] * ends[rows]
        after = self.z[(rows + 1).clamp_max(len(self) - 1)] * ends[rows + 1]
        return torch.cat([before, self.z[rows], after], 1)

    @cached_property
    def gram(self) -> Tensor:
        """(width, width), the mean of the products of features, from a sample."""
        some = self.sample(SAMPLE)
        return (some.T @ some) / len(some)

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
    rows: Design, y: Tensor, kind: Kind, labels: int, strength: float, start: Fit | None = None, prepared: bool = True
) -> Fit:
    """The regularised fit.

    :param y: (rows,) classes or numbers, (rows, labels) for several labels
    :param start: a fit to begin with, such as that of another strength
    :param prepared: search in variables in which the features are nearly uncorrelated: some ten times fewer steps
    """
    if kind == "regression":
        weight, bias = ridge(rows.z, y.to(rows.z.dtype), strength)
        loss = functional.mse_loss(rows.z @ weight.T + bias, y.to(rows.z.dtype).unsqueeze(1))
        return Fit(weight, bias, float(loss))
    return logistic(rows, y, kind, labels, strength, start, prepared)


def ridge(z: Tensor, y: Tensor, strength: float) -> tuple[Tensor, Tensor]:
    """In closed form, in float64: (size, size) is small."""
    z, centre = z.double(), y.double().mean()
    gram = z.T @ z + strength * torch.eye(z.shape[1], dtype=z.dtype)
    weight = torch.linalg.solve(gram, z.T @ (y.double() - centre))
    return weight.float().unsqueeze(0), centre.float().reshape(1)


def logistic(
    rows: Design, y: Tensor, kind: Kind, labels: int, strength: float, start: Fit | None = None, prepared: bool = True
) -> Fit:
    """All labels in one L-BFGS; for several labels that is one binary fit a label, as they share no weights.

    With C C' the curvature that the features and the share of each label give the loss, the search is for V = W C, in
    which all directions are curved alike. The optimum is the same.
    """
    change = _curvature(rows, y, kind, labels, strength) if prepared else None
    free = torch.zeros(labels, rows.width) if start is None else start.weight.clone()
    if change is not None:
        free = free @ change
    free.requires_grad_()
    bias = (torch.zeros(labels) if start is None else start.bias.clone()).requires_grad_()
    optimizer = torch.optim.LBFGS(
        [free, bias], max_iter=STEPS, history_size=20, tolerance_grad=1e-6,
        tolerance_change=NEAR if prepared else 1e-10, line_search_fn="strong_wolfe",
    )  # fmt: skip

    def weight() -> Tensor:
        if change is None:
            return free
        found: Tensor = torch.linalg.solve_triangular(change.T, free.T, upper=True).T
        return found

    def objective() -> Tensor:
        used = weight()
        logits = rows.scores(used) + bias
        if kind == "multi":
            total = functional.binary_cross_entropy_with_logits(logits, y.to(logits.dtype), reduction="sum")
        else:
            total = functional.cross_entropy(logits, y, reduction="sum")
        return (total + strength / 2 * (used**2).sum()) / len(rows)

    def closure() -> Tensor:
        optimizer.zero_grad()
        value = objective()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(closure)  # type: ignore[no-untyped-call]
    with torch.no_grad():
        return Fit(weight().detach().clone(), bias.detach(), float(objective()))


def _curvature(rows: Design, y: Tensor, kind: Kind, labels: int, strength: float) -> Tensor:
    """C, lower triangular, (width, width)."""
    share = y.float().mean(0) if kind == "multi" else torch.bincount(y, minlength=labels) / len(y)
    level = float((share * (1 - share)).mean().clamp_min(1e-4))
    gram = level * rows.gram
    gram.diagonal().add_(strength / len(rows) + 1e-5)
    lower: Tensor = torch.linalg.cholesky(gram)
    return lower
