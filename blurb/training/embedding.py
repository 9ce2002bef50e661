"""Embeddings of which only the rows that the training data uses are parameters.

Without weight decay AdamW never moves a row that gets no gradient, so leaving it out changes nothing but the time: of
30,522 rows a small corpus uses a fifth, and the others would be cleared, clipped and stepped over in every step.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


class UsedRows(nn.Module):
    """An embedding table with trainable rows for some ids; the others keep their values.

    :param table: (vocabulary, size), taken over
    :param used: (rows,) sorted ids that occur in the training data
    """

    full: Tensor
    used: Tensor
    place: Tensor

    def __init__(self, table: nn.Embedding, used: Tensor) -> None:
        super().__init__()
        place = torch.full((table.num_embeddings,), -1, device=used.device)
        place[used] = torch.arange(len(used), device=used.device)
        self.rows = nn.Parameter(table.weight.detach()[used].clone())
        self.register_buffer("full", table.weight.detach(), persistent=False)
        self.register_buffer("used", used, persistent=False)
        self.register_buffer("place", place, persistent=False)
        self.padding: int | None = None  # its row gets no gradient, as in the table
        if table.padding_idx is not None and place[table.padding_idx] >= 0:
            self.padding = int(place[table.padding_idx])

    @property
    def weight(self) -> Tensor:
        """The whole table, (vocabulary, size), as of the last `eval()`."""
        return self.full

    def train(self, mode: bool = True) -> UsedRows:
        """Leaving training mode writes the rows back, so that prediction sees the whole vocabulary."""
        if not mode:
            with torch.no_grad():
                self.full[self.used] = self.rows
        return super().train(mode)

    def forward(self, ids: Tensor) -> Tensor:
        """(batch, pieces) to (batch, pieces, size)."""
        if self.training:
            return functional.embedding(self.place[ids], self.rows, padding_idx=self.padding)
        return functional.embedding(ids, self.full)


def train_used_rows(encoder: Any, used: Tensor) -> None:
    """Restricts the input embedding of a transformers encoder to the ids given; unusual tables are left alone."""
    table = encoder.get_input_embeddings()
    if type(table) is nn.Embedding and table.max_norm is None and not table.scale_grad_by_freq:
        rows: Any = UsedRows(table, used)
        if hasattr(table, "learning_rate_scale"):
            rows.learning_rate_scale = table.learning_rate_scale
        encoder.set_input_embeddings(rows)
