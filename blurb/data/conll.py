"""Alias of `blurb.data.readers.conll`, kept for plug-ins that use the old name of their reader."""

from __future__ import annotations

from blurb.data.readers.conll import read_ner, read_pico

__all__ = ["read_ner", "read_pico"]
