"""What a chain refuses, with shapes and the place of the trouble."""

from __future__ import annotations

import torch
from torch import Tensor


def check(emissions: Tensor, mask: Tensor, tags: Tensor | None = None) -> None:
    """Looks at everything at once, so that a GPU waits once.

    :raises ValueError: shapes that do not fit, an empty sequence, a mask with a hole, scores that are not numbers, a
        tag out of range; quotes the shapes and the first place
    """
    if emissions.ndim != 3 or mask.shape != emissions.shape[:2] or (tags is not None and tags.shape != mask.shape):
        raise ValueError(
            "a chain wants emissions (batch, words, tags), mask and tags (batch, words): "
            f"{_shapes(emissions, mask, tags)}."
        )
    if mask.dtype != torch.bool:
        raise ValueError(f"the mask is {mask.dtype}, not torch.bool: {_shapes(emissions, mask, tags)}.")
    if mask.numel() == 0:
        raise ValueError(f"an empty sequence or batch: {_shapes(emissions, mask, tags)}.")
    size = emissions.shape[-1]
    troubles = {
        "sequence {} is empty (its first word is masked)": ~mask[:, 0],
        "the mask has a hole before [sequence, word] {}": mask[:, 1:] & ~mask[:, :-1],
        "the emissions are not finite at [sequence, word, tag] {}": ~emissions.isfinite() & mask.unsqueeze(-1),
    }
    if tags is not None:
        troubles[f"the tag at [sequence, word] {{}} is not in 0..{size - 1}"] = ((tags < 0) | (tags >= size)) & mask
    if not torch.stack([trouble.any() for trouble in troubles.values()]).any():
        return
    for message, trouble in troubles.items():
        if trouble.any():
            place = trouble.nonzero()[0].tolist()
            if "hole" in message:
                place[1] += 1
            raise ValueError(f"{message.format(place)}: {_shapes(emissions, mask, tags)}.")


def _shapes(emissions: Tensor, mask: Tensor, tags: Tensor | None) -> str:
    shapes = f"emissions {tuple(emissions.shape)}, mask {tuple(mask.shape)}"
    return shapes if tags is None else f"{shapes}, tags {tuple(tags.shape)}"
