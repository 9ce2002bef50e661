"""Checks the inputs of a chain; messages have the shapes and the position of the problem."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad


def check(emissions: Tensor, mask: Tensor, tags: Tensor | None = None) -> None:
    """Checks everything at once, so that a GPU waits only once.

    :raises ValueError: if shapes do not match, a sequence is empty, the mask has a gap, scores are not finite, or a tag
        is out of range; the message has the shapes and the first position
    """
    if emissions.ndim != 3 or mask.shape != emissions.shape[:2] or (tags is not None and tags.shape != mask.shape):
        raise ValueError(
            "shapes must be emissions (batch, words, tags), mask and tags (batch, words); "
            f"got {_shapes(emissions, mask, tags)}."
        )
    if mask.dtype != torch.bool:
        raise ValueError(f"the mask must be torch.bool (got {mask.dtype}): {_shapes(emissions, mask, tags)}.")
    if mask.numel() == 0:
        raise ValueError(f"an empty sequence or batch: {_shapes(emissions, mask, tags)}.")
    size = emissions.shape[-1]
    troubles = {
        "sequence {} is empty (its first word is masked)": ~mask[:, 0],
        "the mask has a gap before [sequence, word] {}": pad(mask[:, 1:] & ~mask[:, :-1], (1, 0)),
        "the emissions are not finite at [sequence, word, tag] {}": ~emissions.isfinite() & mask.unsqueeze(-1),
    }
    if tags is not None:
        troubles[f"the tag at [sequence, word] {{}} is not in 0..{size - 1}"] = ((tags < 0) | (tags >= size)) & mask
    if not torch.stack([trouble.any() for trouble in troubles.values()]).any():
        return
    for message, trouble in troubles.items():
        if trouble.any():
            place = trouble.nonzero()[0].tolist()
            raise ValueError(f"{message.format(place)}: {_shapes(emissions, mask, tags)}.")


def _shapes(emissions: Tensor, mask: Tensor, tags: Tensor | None) -> str:
    shapes = f"emissions {tuple(emissions.shape)}, mask {tuple(mask.shape)}"
    return shapes if tags is None else f"{shapes}, tags {tuple(tags.shape)}"
