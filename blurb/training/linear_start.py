"""The head starts from a linear fit on its own features at the untouched encoder, then all is fine-tuned.

Linear probing then fine-tuning (Kumar et al., arXiv 2202.10054): a head that starts at random distorts the encoder
while it is still far off. The fit is regularised on standardised features; the standardisation is folded into weights.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from blurb.heads._base import Kind
from blurb.inputs.features import Features
from blurb.training.loop import Targets, Trainer

MOST = 50_000
"""Words of token tasks that the fit is made on: more of them add seconds and no digit."""
STRENGTH = 10.0
"""Of the penalty: scikit-learn's `1 / C` of a logistic regression, and its `alpha` of a ridge. At 1 the weights are so
large that the first steps of the encoder undo the fit (docs/results/protocol-study)."""
STEPS = 200


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
    mean, sd = x.mean(0), x.std(0, correction=0).clamp_min(1e-6)
    z = (x - mean) / sd
    if kind == "regression":
        weight, bias = _ridge(z, y.to(z.dtype), strength)
        loss = float(functional.mse_loss(z @ weight.T + bias, y.to(z.dtype).unsqueeze(1)))
    else:
        weight, bias, loss = _logistic(z, y, kind, labels, strength)
    weight = weight / sd
    return weight, bias - weight @ mean, loss


def _ridge(z: Tensor, y: Tensor, strength: float) -> tuple[Tensor, Tensor]:
    """In closed form, in float64: (size, size) is small."""
    z, centre = z.double(), y.double().mean()
    gram = z.T @ z + strength * torch.eye(z.shape[1], dtype=z.dtype)
    weight = torch.linalg.solve(gram, z.T @ (y.double() - centre))
    return weight.float().unsqueeze(0), centre.float().reshape(1)


def _logistic(z: Tensor, y: Tensor, kind: Kind, labels: int, strength: float) -> tuple[Tensor, Tensor, float]:
    """All labels in one L-BFGS; for several labels that is one binary fit a label, as they share no weights."""
    weight = torch.zeros(labels, z.shape[1], requires_grad=True)
    bias = torch.zeros(labels, requires_grad=True)
    optimizer = torch.optim.LBFGS(
        [weight, bias], max_iter=STEPS, history_size=20, tolerance_grad=1e-6, tolerance_change=1e-10,
        line_search_fn="strong_wolfe",
    )  # fmt: skip

    def objective() -> Tensor:
        logits = z @ weight.T + bias
        if kind == "multi":
            total = functional.binary_cross_entropy_with_logits(logits, y.to(logits.dtype), reduction="sum")
        else:
            total = functional.cross_entropy(logits, y, reduction="sum")
        return (total + strength / 2 * (weight**2).sum()) / len(z)

    def closure() -> Tensor:
        optimizer.zero_grad()
        value = objective()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(closure)  # type: ignore[no-untyped-call]
    with torch.no_grad():
        return weight.detach(), bias.detach(), float(objective())
