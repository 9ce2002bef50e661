"""`bilstm-crf`: a CRF on top of a BiLSTM (Huang et al., 2015)."""

from __future__ import annotations

from torch import Tensor

from blurb.heads._base import Head, Problem
from blurb.heads.bilstm import BiLSTMLayer
from blurb.heads.crf import CRF


class BiLSTMCRF(Head):
    """A BiLSTM whose outputs are the features of a CRF.

    :param hidden: hidden units per direction
    :param layers: number of stacked layers, with `dropout` between them
    :param constrained: whether training enforces the tagging scheme; decoding always does
    """

    kinds = ("tokens",)

    def __init__(
        self,
        size: int,
        problem: Problem,
        dropout: float,
        hidden: int = 256,
        layers: int = 1,
        constrained: bool = False,
    ) -> None:
        super().__init__(size, problem, dropout)
        self.lstm = BiLSTMLayer(size, hidden, layers, dropout)
        self.crf = CRF(self.lstm.size, problem, dropout, constrained)

    def forward(self, features: Tensor, mask: Tensor | None) -> Tensor:
        """(batch, words, size) to (batch, words, 2 * hidden)."""
        assert mask is not None
        words: Tensor = self.lstm(self.dropout(features), mask)[0]
        return words

    def check_targets(self, targets: Tensor, mask: Tensor | None) -> None:
        self.crf.check_targets(targets, mask)

    def loss(self, features: Tensor, targets: Tensor, mask: Tensor | None) -> Tensor:
        return self.crf.loss(self(features, mask), targets, mask)

    def predict(self, features: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        return self.crf.predict(self(features, mask), mask)

    def predict_windows(
        self, features: Tensor, mask: Tensor | None, inside: Tensor
    ) -> tuple[Tensor, Tensor]:
        return self.crf.predict_windows(self(features, mask), mask, inside)


HEAD = BiLSTMCRF
