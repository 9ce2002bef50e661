"""`blurb.attention`: the weights of attention of one model or two on a text."""

from blurb.lab.attention.attend import attention

__all__ = ["attention"]
