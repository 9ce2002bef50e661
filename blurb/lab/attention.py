"""Former place of `blurb.extensions.lab.attention`."""

from blurb.extensions.lab.attention import Attention, ModelWeights, attention

__all__ = ["Attention", "ModelWeights", "attention"]
