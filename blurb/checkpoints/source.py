"""A resolved model and what identifies it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from blurb.checkpoints.checkpoint import Checkpoint

MOST_READ = 8
"""Number of sources whose files stay read: a vocabulary may take 100 MB."""


@dataclass(frozen=True)
class Source:
    """A resolved model and what identifies it.

    :param name: the name of its rows
    :param kind: "encoder" or "baseline"
    :param location: folder of the checkpoint, or the name of the baseline
    :param weights: SHA-256 of weights and configuration
    :param tokenizer: SHA-256 of everything that decides the token ids
    :param parameters: number of parameters of the encoder
    :param remote_code: whether code of the checkpoint may run
    :param casing: "cased" or "uncased" if it overrides the tokenizer's files
    """

    name: str
    kind: str
    location: str
    weights: str
    tokenizer: str = ""
    parameters: int = 0
    remote_code: bool = False
    revision: str | None = None
    casing: str = ""

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint, whose files are read once a process; see `blurb.checkpoints.unchanged` for later changes."""
        if self not in _read:
            remember(self, Checkpoint(Path(self.location), self.remote_code, self.casing))
        return _read[self]


_read: dict[Source, Checkpoint] = {}


def remember(source: Source, checkpoint: Checkpoint) -> None:
    """Makes a checkpoint that has been read that of its source."""
    while len(_read) >= MOST_READ:
        _read.pop(next(iter(_read)), None)
    _read[source] = checkpoint
