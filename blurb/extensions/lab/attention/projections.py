"""Queries and keys of an encoder, where its weights are the softmax of their scaled products and of nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import nn

from blurb.extensions.lab.attention.words import Floats

if TYPE_CHECKING:
    from torch import Tensor

QUERY, KEY = ("query", "q_lin", "q_proj", "query_proj", "q"), ("key", "k_lin", "k_proj", "key_proj", "k")
"""Last parts of the names of the linear layers that make queries and keys."""
CLOSE = 1e-4
"""Maximum difference of a weight from the one that follows from queries and keys."""
NOT_APART = "this encoder does not make queries and keys by layers of their own"
NOT_ALONE = "its weights are not the softmax of query and key alone: positions or other terms enter the scores"


@dataclass(frozen=True, eq=False)
class Projections:
    """Queries and keys of all sub-tokens, special tokens included.

    :param queries: (layers, heads, pieces, size)
    :param keys: the same
    """

    queries: Floats
    keys: Floats

    @property
    def scores(self) -> Floats:
        """Products of queries and keys, divided by the square root of their size: (layers, heads, pieces, pieces)."""
        products: Floats = self.queries @ self.keys.swapaxes(-1, -2) / np.float32(self.queries.shape[-1] ** 0.5)
        return products


@contextmanager
def recording(encoder: Any) -> Iterator[tuple[list[Tensor], list[Tensor]]]:
    """What the linear layers of queries and of keys return while the encoder runs, in the order of the layers."""
    queries: list[Tensor] = []
    keys: list[Tensor] = []
    hooks = []
    for name, module in encoder.named_modules():
        last = name.rpartition(".")[2]
        target = queries if last in QUERY else keys if last in KEY else None
        if target is not None and isinstance(module, nn.Linear):
            hooks.append(module.register_forward_hook(lambda _, given, output, to=target: to.append(output.detach())))
    try:
        yield queries, keys
    finally:
        for hook in hooks:
            hook.remove()


def projections(queries: list[Tensor], keys: list[Tensor], weights: Floats) -> Projections | str:
    """Queries and keys by head, or a sentence that says why there are none.

    Decided by behaviour: they count if the weights of the encoder follow from them.

    :param queries: (1, pieces, heads * size) of each layer
    :param weights: (layers, heads, pieces, pieces), as the encoder returned them
    """
    layers, heads, pieces, _ = weights.shape
    if not queries or not keys:
        return NOT_APART
    if len(queries) != layers or len(keys) != layers:  # DeBERTa's make those of positions, too
        return NOT_ALONE
    if any(each.ndim != 3 or each.shape[1] != pieces or each.shape[2] % heads for each in (*queries, *keys)):
        return NOT_APART
    found = Projections(_by_head(queries, heads), _by_head(keys, heads))
    if found.queries.shape != found.keys.shape or np.abs(softmax(found.scores) - weights).max() > CLOSE:
        return NOT_ALONE
    return found


def _by_head(rows: list[Tensor], heads: int) -> Floats:
    """(layers, heads, pieces, size)."""
    stacked = np.stack([row[0].float().numpy() for row in rows])  # (layers, pieces, heads * size)
    layers, pieces, width = stacked.shape
    return np.ascontiguousarray(stacked.reshape(layers, pieces, heads, width // heads).transpose(0, 2, 1, 3))


def softmax(scores: Floats) -> Floats:
    """Over the last axis."""
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    weights: Floats = powers / powers.sum(-1, keepdims=True)
    return weights
