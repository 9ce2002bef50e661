"""Checkpoints: finding, checking and loading them."""

from blurb.models.source import Source

__all__ = ["Source"]
