"""The size of an encoder from its configuration, which decides the time and memory of a pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from blurb.checkpoints.reading import errors_alone


@dataclass(frozen=True)
class EncoderSize:
    """Sizes of an encoder of any architecture.

    :param body: parameters that multiply every sub-token: all but the embedding tables and the pooler
    :param table: number of values in the token embedding table
    :param vocabulary: rows of that table
    :param layers: number of layers, 0 if the configuration does not say
    :param hidden: size of a hidden vector, 0 if the configuration does not say
    :param most: maximum sub-tokens of an input, None if unlimited
    """

    body: int
    table: int
    vocabulary: int
    layers: int
    hidden: int
    most: int | None

    def forward(self, inputs: float, length: float) -> float:
        """Floating-point operations of one pass over `inputs` inputs of `length` sub-tokens.

        Two per parameter and sub-token, and in every layer two products of (length, length, hidden). Training takes
        three times that. Encoders that reuse a layer do more; the measured rate compensates for it.
        """
        return inputs * length * (2 * self.body + 4 * self.layers * self.hidden * length)


def size_of(model: Any) -> EncoderSize:
    """The size of an encoder, whose weights need not be loaded."""
    from torch import nn

    tables = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    body = sum(
        parameter.numel()
        for name, parameter in model.named_parameters()
        if id(parameter) not in tables and not name.startswith("pooler.")
    )
    table = model.get_input_embeddings()
    config = model.config
    layers, hidden = (getattr(config, name, None) for name in ("num_hidden_layers", "hidden_size"))
    return EncoderSize(
        body=body,
        table=int(table.weight.numel()),
        vocabulary=int(table.num_embeddings),
        layers=layers if isinstance(layers, int) else 0,
        hidden=hidden if isinstance(hidden, int) else 0,
        most=capacity(model),
    )


def capacity(encoder: Any) -> int | None:
    """The maximum number of sub-tokens of an encoder; None if relative positions set no limit."""
    table = getattr(getattr(encoder, "embeddings", None), "position_embeddings", None)
    if table is not None and hasattr(table, "num_embeddings"):
        padding = table.padding_idx  # RoBERTa counts positions from padding_idx + 1
        return int(table.num_embeddings) - (0 if padding is None else padding + 1)
    limit = getattr(encoder.config, "max_position_embeddings", None)
    return int(limit) if isinstance(limit, int) and limit > 0 else None


def enlarge(encoder: Any, size: int) -> None:
    """Makes room in the embedding table for the tokens that a formulation adds."""
    if size > encoder.get_input_embeddings().num_embeddings:
        with errors_alone():
            encoder.resize_token_embeddings(size)
