"""From what a user types to a model: a path, a Hub id, a preset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from blurb.checkpoints.checkpoint import Checkpoint
from blurb.checkpoints.references import default_name, locate
from blurb.checkpoints.source import Source, remember

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def resolve(
    reference: str,
    name: str | None = None,
    revision: str | None = None,
    remote_code: bool = False,
    casing: str | None = None,
    tokenizer: PreTrainedTokenizerBase | str | Path | None = None,
) -> Source:
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
) -> Source:
    """The model in a checkpoint folder; ModelError if it is invalid."""
    checkpoint = Checkpoint(folder, remote_code, casing)
    checkpoint.check()
    source = Source(
        name=name,
        kind="encoder",
        location=str(folder),
        weights=checkpoint.weights_hash,
        tokenizer=checkpoint.tokenizer.hash,
        parameters=checkpoint.parameters,
        remote_code=remote_code,
        revision=revision,
        casing=casing,
    )
    remember(source, checkpoint)
    return source
