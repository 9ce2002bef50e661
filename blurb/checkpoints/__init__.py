"""Model references that have been read: configuration, tokenizer and weights of an encoder, each file once."""

from __future__ import annotations

from blurb.checkpoints.checkpoint import Checkpoint
from blurb.checkpoints.resolution import of_folder, resolve
from blurb.checkpoints.source import Source

__all__ = ["Checkpoint", "Source", "of_folder", "resolve"]
