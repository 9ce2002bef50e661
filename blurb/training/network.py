"""Encoder, featurizer and head as one module.

Attention masks that do not make a GPU wait.

transformers inspects every padding mask, to omit it if nothing is padded; on a GPU each step then waits for its inputs.
Here the mask is always used. On a CPU inspecting costs nothing, so transformers' masks are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from blurb.heads._base import Head
from blurb.heads.pooling._base import Pooling, word_vectors
from blurb.training.batches import Batch


class Network(nn.Module):
    """The steps of Gu et al., section 2.4: encoder, featurizer, prediction.

    :param encoder: a transformers model with `last_hidden_state`; only the encoder runs under autocast
    :param pooling: for sequence tasks; None for token tasks, which use `word_pooling`, and for heads that read all
        sub-tokens
    :param use_pooler: whether to use the checkpoint's trained pooler
    :param word_pooling: which sub-tokens represent a word (`blurb.inputs.words.POOLINGS`)
    :ivar autocast: the context in which the encoder runs
    """

    def __init__(
        self,
        encoder: nn.Module,
        pooling: Pooling | None,
        head: Head,
        use_pooler: bool,
        word_pooling: str = "first",
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.pooling = pooling
        self.head = head
        self.use_pooler = use_pooler
        self.word_pooling = word_pooling
        self.autocast: AbstractContextManager[object] = nullcontext()

    def features(self, batch: Batch) -> Tensor:
        """(batch, words, size) for token tasks, (batch, size) for the others, (batch, pieces, size) without pooling."""
        with self.autocast:  # head and loss stay in float32
            output = self.encoder(**batch.inputs)
        hidden: Tensor = output.last_hidden_state.float()  # (batch, pieces, size)
        if batch.word_starts is not None and batch.word_ends is not None:
            return word_vectors(hidden, batch.word_starts, batch.word_ends, self.word_pooling)
        if self.pooling is None:
            return hidden
        pooled: Tensor = self.pooling(
            hidden,
            batch.mask,
            output.pooler_output.float() if self.use_pooler else None,
            batch.entities,
        )
        return pooled

    def loss(self, batch: Batch) -> Tensor:
        """Sum of the losses of a batch."""
        assert batch.targets is not None
        total: Tensor = self.head.loss(self.features(batch), batch.targets, self._mask(batch))
        return total

    def predict(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Predictions and scores of a batch."""
        features, mask = self.features(batch), self._mask(batch)
        if batch.inside is None:
            return self.head.predict(features, mask)
        return self.head.predict_windows(features, mask, batch.inside)

    def _mask(self, batch: Batch) -> Tensor | None:
        """Mask of the features that are not padding, if an input has several."""
        return (
            batch.mask.bool()
            if self.pooling is None and batch.word_mask is None
            else batch.word_mask
        )


ATTENTION = "blurb_device"


def mask(*args: Any, **kwargs: Any) -> Tensor | None:
    """transformers' mask for `sdpa`, without inspecting its values."""
    kwargs.update(allow_is_bidirectional_skip=False, allow_is_causal_skip=False)
    return sdpa_mask(*args, **kwargs)  # type: ignore[no-any-return]


def use_masks_without_waiting(network: nn.Module) -> None:
    """Installs `mask` in a network that is not on a CPU; encoders with their own attention are not changed."""
    use_attention(network.encoder, ATTENTION, sdpa_attention_forward, mask)


def use_attention(
    encoder: Any, name: str, attention: Callable[..., Any], mask: Callable[..., Any]
) -> None:
    """Gives an encoder another attention and its masks in place of `sdpa`, under a name of their own."""
    if getattr(encoder.config, "_attn_implementation", None) == "sdpa":
        AttentionInterface.register(name, attention)
        AttentionMaskInterface.register(name, mask)
        encoder.set_attn_implementation(name)


def checkpoint_activations(encoder: Any) -> bool:
    """Makes an encoder compute its layers again in the backward pass, to the same bits, instead of keeping them.

    :returns: whether its architecture can; else nothing changes
    """
    if not getattr(encoder, "supports_gradient_checkpointing", False):
        return False
    # Its name until transformers 5.22.
    enable = (
        getattr(encoder, "activation_checkpointing_enable", None)
        or encoder.gradient_checkpointing_enable
    )
    enable({"use_reentrant": False})
    return True


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
