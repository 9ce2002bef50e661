"""The old name of `blurb.data.readers.conll`, which plug-ins name as their reader."""

from __future__ import annotations

from blurb.data.readers.conll import read_ner, read_pico

__all__ = ["read_ner", "read_pico"]
