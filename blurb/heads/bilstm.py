"""`bilstm`: a bidirectional LSTM below the linear layer (Gu et al., table 12)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from blurb.heads._base import Head, Problem
from blurb.heads.linear import Linear
from blurb.messages import SettingsError


class BiLSTM(Head):
    """Reads the words of token problems; for others all sub-tokens, and classifies the final states of both directions.

    :param hidden: hidden units per direction
    :param layers: number of stacked layers, with `dropout` between them
    """

    reads_sequence = True

    def __init__(
        self, size: int, problem: Problem, dropout: float, hidden: int = 256, layers: int = 1
    ) -> None:
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


class BiLSTMLayer(nn.Module):
    """Bidirectional LSTM over sequences of different lengths, without reading padding.

    :param size: size of the inputs
    :param hidden: hidden units per direction
    :param layers: number of stacked layers
    :param dropout: dropout between the layers
    """

    def __init__(self, size: int, hidden: int, layers: int, dropout: float) -> None:
        super().__init__()
        if hidden < 1 or layers < 1:
            raise SettingsError(
                f"A BiLSTM needs 'hidden' and 'layers' of at least 1 (got hidden={hidden}, layers={layers})."
            )
        self.size = 2 * hidden
        self.lstm = nn.LSTM(
            size,
            hidden,
            layers,
            batch_first=True,
            bidirectional=True,
            dropout=dropout if layers > 1 else 0.0,
        )

    def forward(self, features: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Outputs of both directions at every position, and their final states.

        :param features: (batch, positions, size)
        :param mask: (batch, positions), padding on the right
        :returns: (batch, positions, 2 * hidden), 0 in the padding; (batch, 2 * hidden), the last layer's final states
        """
        lengths = mask.sum(1).clamp(min=1).cpu()  # nothing at all is read as one padded place
        packed = pack_padded_sequence(features, lengths, batch_first=True, enforce_sorted=False)
        outputs, (finals, _) = self.lstm(packed)
        padded, _ = pad_packed_sequence(outputs, batch_first=True, total_length=mask.shape[1])
        return padded, torch.cat([finals[-2], finals[-1]], -1)
