"""The recurrent layer shared by the BiLSTM heads."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from blurb.messages.errors import SettingsError


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
            size, hidden, layers, batch_first=True, bidirectional=True, dropout=dropout if layers > 1 else 0.0
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
