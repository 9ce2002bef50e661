"""Embedding tables in which only the rows used by the training data are parameters.

Without weight decay AdamW never changes a row without gradient, so excluding such rows only saves time: a small corpus
uses a fifth of 30,522 rows, and the others would still cost time in every step.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


class UsedRows(nn.Module):
    """An embedding table in which only the rows of some ids are trainable.

    :param table: (vocabulary, size); owned by this module from now on
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
        """Sets the mode; leaving training mode writes the trained rows back to the full table for prediction."""
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
    """Restricts the input embedding of a transformers encoder to the given ids; unusual tables stay unchanged."""
    table = encoder.get_input_embeddings()
    if type(table) is nn.Embedding and table.max_norm is None and not table.scale_grad_by_freq:
        rows: Any = UsedRows(table, used)
        if hasattr(table, "learning_rate_scale"):
            rows.learning_rate_scale = table.learning_rate_scale
        encoder.set_input_embeddings(rows)
