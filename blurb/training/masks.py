"""Attention masks that no GPU waits for.

transformers looks into every padding mask, to leave it out where nothing is padded: on a GPU the step then waits for
its own inputs. Here the mask is always made. On a CPU looking costs nothing, and nothing is changed.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

ATTENTION = "blurb_device"


def mask(*args: Any, **kwargs: Any) -> Tensor | None:
    """transformers' mask for `sdpa`, without a look at its values."""
    from transformers.masking_utils import sdpa_mask

    kwargs.update(allow_is_bidirectional_skip=False, allow_is_causal_skip=False)
    return sdpa_mask(*args, **kwargs)  # type: ignore[no-any-return]


def use_masks_without_waiting(network: nn.Module) -> None:
    """For a network that will work on another device than the CPU; encoders with an attention of their own keep it."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    encoder: Any = network.encoder
    if getattr(encoder.config, "_attn_implementation", None) == "sdpa":
        AttentionInterface.register(ATTENTION, sdpa_attention_forward)
        AttentionMaskInterface.register(ATTENTION, mask)
        encoder.set_attn_implementation(ATTENTION)
