"""Former place of `blurb.extensions.series.callback.trainer`."""

from blurb.extensions.series.callback.trainer import BlurbCallback

__all__ = ["BlurbCallback"]
