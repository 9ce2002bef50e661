"""From what a user types to a model, and what identifies it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from blurb.checkpoints.checkpoint import Checkpoint
from blurb.checkpoints.references import default_name, locate

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

KINDS = ("checkpoint", "learner")
CHECKPOINT = KINDS[0]
MOST_READ = 8
"""Number of sources whose files stay read: a vocabulary may take 100 MB."""


@dataclass(frozen=True)
class ModelSource:
    """A resolved model and what identifies it.

    :param name: the name of its rows
    :param kind: `CHECKPOINT`, or "learner" for a kind of learner that needs none (`blurb.learners`)
    :param location: folder of the checkpoint, or the name of the learner and its options
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
    def is_checkpoint(self) -> bool:
        """Whether it is a checkpoint, not a learner that needs none."""
        return self.kind == CHECKPOINT

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint, whose files are read once a process; see `blurb.checkpoints.unchanged` for later changes."""
        if self not in _read:
            _remember(self, Checkpoint(Path(self.location), self.remote_code, self.casing))
        return _read[self]


_read: dict[ModelSource, Checkpoint] = {}


def _remember(source: ModelSource, checkpoint: Checkpoint) -> ModelSource:
    """Makes a checkpoint that has been read that of its source."""
    while len(_read) >= MOST_READ:
        _read.pop(next(iter(_read)), None)
    _read[source] = checkpoint
    return source


def resolve(
    reference: str,
    name: str | None = None,
    revision: str | None = None,
    remote_code: bool = False,
    casing: str | None = None,
    tokenizer: PreTrainedTokenizerBase | str | Path | None = None,
) -> ModelSource:
    """Resolves a reference to a checkpoint.

    :param reference: a folder, a preset, or a Hub id (`org/model` or `org/model@revision`); `scratch:...` is built from
        data first, see `blurb.checkpoints.scratch`
    :param casing: "cased" or "uncased"; None follows the preset, or else the tokenizer's files
    :param tokenizer: over that of the checkpoint: a loaded one, or the folder or Hub id of one
    :raises ModelError: says what is missing and what to do
    """
    folder, commit, usual = locate(reference, revision, remote_code)
    casing = usual if casing is None else casing
    if tokenizer is not None:
        from blurb.checkpoints import staged_checkpoint

        Checkpoint(folder).check_files(with_tokenizer=False)
        folder = staged_checkpoint.with_tokenizer(folder, tokenizer, remote_code)
    return of_folder(folder, name or default_name(reference), commit, remote_code, casing)


def of_folder(
    folder: Path, name: str, revision: str | None = None, remote_code: bool = False, casing: str = ""
) -> ModelSource:
    """The model in a checkpoint folder; ModelError if it is invalid."""
    checkpoint = Checkpoint(folder, remote_code, casing)
    checkpoint.check()
    source = ModelSource(
        name=name,
        kind=CHECKPOINT,
        location=str(folder),
        weights=checkpoint.weights_hash,
        tokenizer=checkpoint.tokenizer.hash,
        parameters=checkpoint.parameters,
        remote_code=remote_code,
        revision=revision,
        casing=casing,
    )
    return _remember(source, checkpoint)
