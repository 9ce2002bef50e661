"""Encoder, featurizer and head as one module."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from blurb.heads._base import Head
from blurb.heads.pooling._base import Pooling
from blurb.training.batches import Batch


class Network(nn.Module):
    """The steps of Gu et al., section 2.4: encoder, featurizer, prediction.

    :param encoder: a transformers model with `last_hidden_state`; it alone runs under autocast
    :param pooling: for sequence tasks; None means the first sub-token of every word
    :param use_pooler: the checkpoint has a trained pooler and the pooling wants it
    """

    def __init__(self, encoder: nn.Module, pooling: Pooling | None, head: Head, use_pooler: bool) -> None:
        super().__init__()
        self.encoder = encoder
        self.pooling = pooling
        self.head = head
        self.use_pooler = use_pooler

    def features(self, batch: Batch) -> Tensor:
        """(batch, words, size) for token tasks, (batch, size) for the others; float32."""
        inputs: dict[str, Any] = {"input_ids": batch.ids, "attention_mask": batch.mask}
        if batch.types is not None:
            inputs["token_type_ids"] = batch.types
        output = self.encoder(**inputs)
        hidden = output.last_hidden_state.float()  # (batch, pieces, size)
        if self.pooling is None:
            assert batch.positions is not None
            places = batch.positions.unsqueeze(-1).expand(-1, -1, hidden.shape[-1])
            words: Tensor = hidden.gather(1, places)  # (batch, words, size)
            return words
        pooled: Tensor = self.pooling(hidden, batch.mask, output.pooler_output.float() if self.use_pooler else None)
        return pooled

    def loss(self, batch: Batch) -> Tensor:
        """Sum of the losses of a batch."""
        assert batch.targets is not None
        total: Tensor = self.head.loss(self.features(batch), batch.targets, batch.word_mask)
        return total

    def predict(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Predictions and scores of a batch."""
        return self.head.predict(self.features(batch), batch.word_mask)
