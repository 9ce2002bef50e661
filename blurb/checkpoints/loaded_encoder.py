"""The last loaded encoder, kept for the next trial of the same weights."""

from __future__ import annotations

import copy
from typing import Any

from blurb.checkpoints.source import ModelSource, check_unchanged


def encoder_of(source: ModelSource) -> tuple[Any, bool]:
    """`Checkpoint.load_encoder` of a resolved model, as a copy for the caller.

    Copying takes a third of the time of loading. Encoders that draw random weights while loading are loaded every
    time, as these weights depend on the seed of the trial.
    """
    if source.weights in _kept:
        encoder, trained_pooler = _kept[source.weights]
        return copy.deepcopy(encoder), trained_pooler
    import torch

    before = torch.get_rng_state()
    _kept.clear()  # first, or two of them would be there
    encoder, trained_pooler = source.checkpoint.load_encoder()
    check_unchanged(source)  # they may have been overwritten while they were read
    if torch.equal(before, torch.get_rng_state()) and not source.remote_code:
        _kept[source.weights] = encoder, trained_pooler
        encoder = copy.deepcopy(encoder)
    return encoder, trained_pooler


_kept: dict[str, tuple[Any, bool]] = {}
"""By the hash of its weights."""
