"""Former place of `blurb.extensions.lab.attention`."""

from blurb.api.additions import forward

__getattr__ = forward("blurb.extensions.lab.attention")
