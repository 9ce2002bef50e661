"""Former place of `blurb.extensions.series.callback.trainer`."""

from blurb.api.additions import forward

__getattr__ = forward("blurb.extensions.series.callback.trainer")
