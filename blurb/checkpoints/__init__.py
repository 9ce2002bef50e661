"""Reads the checkpoint of a model reference: configuration, tokenizer and weights of an encoder, each file once."""

from blurb.checkpoints.checkpoint import Checkpoint
from blurb.checkpoints.source import ModelSource, of_folder, resolve_checkpoint

__all__ = ["Checkpoint", "ModelSource", "of_folder", "resolve_checkpoint"]
