"""The standard head: dropout and one linear layer (Gu et al., section 2.4.2)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from blurb.heads._base import Head, OutputKind, Problem

PADDING = -100


class Linear(Head):
    """One score per label from each feature vector; cross-entropy, binary cross-entropy or squared error."""

    def __init__(self, size: int, problem: Problem, dropout: float) -> None:
        super().__init__(size, problem, dropout)
        self.linear = nn.Linear(size, len(problem.labels))
        # As transformers initialises the classifiers it adds to BERT.
        nn.init.normal_(self.linear.weight, std=0.02)
        nn.init.zeros_(self.linear.bias)

    def forward(self, features: Tensor) -> Tensor:
        """(..., size) to (..., labels)."""
        logits: Tensor = self.linear(self.dropout(features))
        return logits

    def loss(self, features: Tensor, targets: Tensor, mask: Tensor | None) -> Tensor:
        logits = self(features)
        match self.problem.kind:
            case "tokens":  # not `logits[mask]`: to count its rows a GPU would have to finish first
                assert mask is not None
                return functional.cross_entropy(
                    logits.flatten(0, 1),
                    targets.masked_fill(~mask, PADDING).flatten(),
                    reduction="sum",
                    ignore_index=PADDING,
                )
            case "single":
                return functional.cross_entropy(logits, targets, reduction="sum")
            case "multi":
                return functional.binary_cross_entropy_with_logits(logits, targets, reduction="sum")
            case "regression":
                return functional.mse_loss(logits.squeeze(-1), targets, reduction="sum")

    def predict(self, features: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        return decide_labels(self.problem.kind, self(features))


def decide_labels(kind: OutputKind, logits: Tensor) -> tuple[Tensor, Tensor]:
    """Predictions and scores of logits (..., labels), as `Head.predict` gives them."""
    match kind:
        case "tokens":
            shares = logits.softmax(-1)
            return shares.argmax(-1), shares
        case "single":
            return logits.argmax(-1), logits.softmax(-1)
        case "multi":  # a probability above 0.5
            return (logits > 0).to(torch.int64), logits.sigmoid()
        case "regression":
            return logits.squeeze(-1), logits.squeeze(-1)


HEAD = Linear
