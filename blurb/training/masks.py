"""Attention masks that do not make a GPU wait.

transformers inspects every padding mask, to omit it if nothing is padded; on a GPU each step then waits for its inputs.
Here the mask is always used. On a CPU inspecting costs nothing, so transformers' masks are kept.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

ATTENTION = "blurb_device"


def mask(*args: Any, **kwargs: Any) -> Tensor | None:
    """transformers' mask for `sdpa`, without inspecting its values."""
    kwargs.update(allow_is_bidirectional_skip=False, allow_is_causal_skip=False)
    return sdpa_mask(*args, **kwargs)  # type: ignore[no-any-return]


def use_masks_without_waiting(network: nn.Module) -> None:
    """Installs `mask` in a network that is not on a CPU; encoders with their own attention are not changed."""
    encoder: Any = network.encoder
    if getattr(encoder.config, "_attn_implementation", None) == "sdpa":
        AttentionInterface.register(ATTENTION, sdpa_attention_forward)
        AttentionMaskInterface.register(ATTENTION, mask)
        encoder.set_attn_implementation(ATTENTION)
