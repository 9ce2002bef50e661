"""How large an encoder is, from its configuration alone: what decides the time and the memory of a pass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from blurb.models.loading import capacity, outline
from blurb.models.source import Source


@dataclass(frozen=True)
class Shape:
    """Sizes of an encoder of any architecture.

    :param body: parameters that every sub-token is multiplied with: all but tables of embeddings and the pooler
    :param table: values in the table of token embeddings
    :param vocabulary: rows of that table
    :param layers: number of layers, 0 where the configuration does not say
    :param hidden: size of a vector, 0 likewise
    :param most: sub-tokens that fit an input, None where nothing limits them
    """

    body: int
    table: int
    vocabulary: int
    layers: int
    hidden: int
    most: int | None

    def forward(self, inputs: float, length: float) -> float:
        """Floating-point operations of one pass over `inputs` inputs of `length` sub-tokens.

        Two for each parameter and sub-token, and in every layer two products of (length, length, hidden). Training
        takes three times that. Encoders that use a layer several times do more; a measured rate makes up for it.
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
    """The shape of a model that was resolved."""
    return shape_of(source.location, source.remote_code)
