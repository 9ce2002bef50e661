"""The weights of attention as a page and a picture (docs/extensions/attention.md)."""

from __future__ import annotations

from blurb.extensions.lab.attention.attend import attention
from blurb.extensions.lab.attention.result import Attention, ModelWeights

__all__ = ["Attention", "ModelWeights", "attention"]
