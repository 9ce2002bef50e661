"""`bilstm`: a bidirectional LSTM below the linear layer (Gu et al., table 12)."""

from __future__ import annotations

from torch import Tensor

from blurb.heads._base import Head, Problem
from blurb.heads._lstm import BiLSTMLayer
from blurb.heads.linear import Linear


class BiLSTM(Head):
    """Reads the words of token problems; for others all sub-tokens, and classifies the final states of both directions.

    :param hidden: hidden units per direction
    :param layers: number of stacked layers, with `dropout` between them
    """

    reads_sequence = True

    def __init__(self, size: int, problem: Problem, dropout: float, hidden: int = 256, layers: int = 1) -> None:
        super().__init__(size, problem, dropout)
        self.lstm = BiLSTMLayer(size, hidden, layers, dropout)
        self.linear = Linear(self.lstm.size, problem, dropout)

    def forward(self, features: Tensor, mask: Tensor | None) -> Tensor:
        """(batch, positions, size) to (batch, words, 2 * hidden) for token problems, (batch, 2 * hidden) for others."""
        assert mask is not None
        places, finals = self.lstm(self.dropout(features), mask)
        found: Tensor = places if self.problem.kind == "tokens" else finals
        return found

    def loss(self, features: Tensor, targets: Tensor, mask: Tensor | None) -> Tensor:
        return self.linear.loss(self(features, mask), targets, mask)

    def predict(self, features: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        return self.linear.predict(self(features, mask), mask)


HEAD = BiLSTM
