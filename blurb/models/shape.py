"""The size of an encoder from its configuration, which decides the time and memory of a pass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from blurb.models.loading import capacity, outline
from blurb.models.source import Source


@dataclass(frozen=True)
class Shape:
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


@lru_cache(maxsize=16)
def shape_of(location: str, remote_code: bool = False) -> Shape:
    """The shape of a checkpoint, without loading its weights."""
    from torch import nn

    model = outline(location, remote_code)
    tables = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    body = sum(
        parameter.numel()
        for name, parameter in model.named_parameters()
        if id(parameter) not in tables and not name.startswith("pooler.")
    )
    table = model.get_input_embeddings()
    config = model.config
    layers, hidden = (getattr(config, name, None) for name in ("num_hidden_layers", "hidden_size"))
    return Shape(
        body=body,
        table=int(table.weight.numel()),
        vocabulary=int(table.num_embeddings),
        layers=layers if isinstance(layers, int) else 0,
        hidden=hidden if isinstance(hidden, int) else 0,
        most=capacity(model),
    )


def of_source(source: Source) -> Shape:
    """The shape of a resolved model."""
    return shape_of(source.location, source.remote_code)
