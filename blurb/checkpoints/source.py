"""A resolved model and its identity, and whether its files are still those that were hashed.

A pretraining may go on in the folder while trials wait: files are hashed again when their size, times or place on the
disk have changed, and while they are so young that a change might not show in their times.

A source also tokenizes a split, by the code that makes the features for training.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from blurb import formulations
from blurb.checkpoints import scratch
from blurb.checkpoints.adapter import ADAPTER
from blurb.checkpoints.checkpoint import Checkpoint
from blurb.checkpoints.references import default_name, locate_checkpoint
from blurb.data.schema import Example
from blurb.inputs.tokenized_split import Read, TokenizedSplit
from blurb.messages import ModelError, SettingsError, opt
from blurb.tasks import Task

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

KINDS = ("checkpoint", "learner")
CHECKPOINT = KINDS[0]
MOST_READ = 8
"""Number of sources whose files stay in memory: a vocabulary may take 100 MB."""


def open_checkpoint(reference: str, data: Path | None, remote_code: bool) -> Checkpoint:
    """The checkpoint of a folder, a preset, an id on the Hub or `scratch:`, to be looked at and not trained.

    :param data: data folder, from whose train texts `scratch:` takes its vocabulary
    :raises SettingsError: for `scratch:` without a data folder
    """
    if not reference.startswith(scratch.PREFIX):
        place = locate_checkpoint(reference, None, remote_code)
        return Checkpoint(place.folder, remote_code, place.casing)
    if data is None:
        raise SettingsError(
            f"{reference} takes its vocabulary from the data", fix=f"add {opt('data')}."
        )
    return Checkpoint(scratch.build(reference, data), remote_code)


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
        """The checkpoint, whose files are read once a process; see `blurb.checkpoints.source` for later changes."""
        if self not in _read:
            _with_checkpoint(self, Checkpoint(Path(self.location), self.remote_code, self.casing))
        return _read[self]


_read: dict[ModelSource, Checkpoint] = {}


def _with_checkpoint(source: ModelSource, checkpoint: Checkpoint) -> ModelSource:
    """Keeps a checkpoint for its source, which is returned."""
    while len(_read) >= MOST_READ:
        _read.pop(next(iter(_read)), None)
    _read[source] = checkpoint
    return source


def resolve_checkpoint(
    reference: str,
    name: str | None = None,
    revision: str | None = None,
    remote_code: bool = False,
    casing: str | None = None,
    tokenizer: PreTrainedTokenizerBase | str | Path | None = None,
    base: str | None = None,
) -> ModelSource:
    """Resolves a reference to a checkpoint.

    :param reference: a folder, a preset, or a Hub id (`org/model` or `org/model@revision`); `scratch:...` is built from
        data first, see `blurb.checkpoints.scratch`
    :param casing: "cased" or "uncased"; None follows the preset, or else the tokenizer's files
    :param tokenizer: instead of that of the checkpoint: a loaded one, or its folder or Hub id
    :param base: model into which an adapter is merged
    :raises ModelError: says what is missing and what to do
    """
    folder, commit, usual = locate_checkpoint(reference, revision, remote_code)
    name = name or default_name(reference)
    if base is not None:
        from blurb.checkpoints import staged_checkpoint

        try:
            kept = staged_checkpoint.with_adapter(folder, base, tokenizer, remote_code, casing)
            return of_folder(kept.folder, name, kept.revision, remote_code, kept.casing)
        except ModelError as error:
            # The error names the folder of the cache where the two were put together.
            error.where = f"{reference} on {base}"
            raise
    if tokenizer is not None:
        from blurb.checkpoints import staged_checkpoint

        kept = staged_checkpoint.with_tokenizer(folder, tokenizer, remote_code, casing)
        folder, casing = kept.folder, kept.casing
    casing = usual if casing is None else casing
    return of_folder(folder, name, commit, remote_code, casing)


def of_folder(
    folder: Path,
    name: str,
    revision: str | None = None,
    remote_code: bool = False,
    casing: str = "",
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
    return _with_checkpoint(source, checkpoint)


YOUNG = 5.0
"""Seconds after a change in which another one may leave the same times: clocks of file systems are coarse."""


def check_trial(source: ModelSource, weights: str, tokenizer: str) -> None:
    """Raises a ModelError if a trial is not of this source, or the source changed since the trial was planned.

    :param weights: hash of the trial's weights
    :param tokenizer: hash of the trial's tokenizer
    """
    if (source.weights, source.tokenizer) != (weights, tokenizer):
        raise ModelError(
            f"The trial is of the weights {weights[:12]} and the tokenizer {tokenizer[:12]}, but {source.name} has "
            f"{source.weights[:12]} and {source.tokenizer[:12]}.",
            fix="Run the command that planned it again.",
        )
    check_unchanged(source)
    if source.is_checkpoint and source.checkpoint.tokenizer.hash != tokenizer:
        raise ModelError(
            f"the tokenizer of {source.name} has changed since its trials were planned. These trials do not run.",
            where=source.location,
            fix="Run the command again for the new one, or put the old one back.",
        )


def check_unchanged(source: ModelSource) -> None:
    """Raises a ModelError if the weights, configuration or code of a source changed since it was resolved.

    Hashes the files the first time in a process, and afterwards compares their sizes and times.
    """
    if not source.is_checkpoint:
        return
    folder = source.checkpoint.folder
    if (folder / ADAPTER).exists():  # transformers would load it, and the base model that it names
        raise ModelError(
            f"{ADAPTER} appeared after the trials of {source.name} were planned. They are not run, as "
            "their results would be counted for the weights without it.",
            where=folder,
            fix="Remove it, or move it elsewhere.",
        )
    try:
        now = hash_now(source.checkpoint)
    except OSError as error:
        raise ModelError(
            f"cannot read the weights of {source.name}: {error.strerror}.", where=folder
        ) from error
    if now != source.weights:
        raise ModelError(
            f"the weights or the configuration of {source.name} have changed since its trials were planned "
            f"(hash {now[:12]}, planned {source.weights[:12]}). These trials do not run, as they would be counted as "
            "those of the old weights.",
            where=folder,
            fix="Run the command again for the new ones, or put the old ones back.",
        )


def hash_now(checkpoint: Checkpoint) -> str:
    """The current hash of the weights; files that look unchanged since they were hashed are not read."""
    place = str(checkpoint.folder), checkpoint.remote_code
    for read in (checkpoint, _read_again.get(place)):
        if read is not None and _is_unchanged(read):
            return read.weights_hash
    _read_again[place] = Checkpoint(checkpoint.folder, checkpoint.remote_code)
    return _read_again[place].weights_hash


_read_again: dict[tuple[str, bool], Checkpoint] = {}
"""Checkpoints that were read after a change, by folder and whether its code counts."""


def _is_unchanged(read: Checkpoint) -> bool:
    stamp = read.weights.stamp(read.remote_code)
    newest = max(max(modified, changed) for _, _, modified, changed, _ in stamp) / 1e9
    return read.read_at - newest >= YOUNG and stamp == read.stamp


def encoder_of(source: ModelSource, keep_bf16: bool = False) -> tuple[Any, bool]:
    """`Checkpoint.load_encoder` of a resolved model, as a copy for the caller.

    Copying takes a third of the time of loading. Encoders that draw random weights while loading are loaded every
    time, as these weights depend on the seed of the trial. So are those in bf16, which are large.
    """
    if keep_bf16:
        loaded = source.checkpoint.load_encoder(keep_bf16=True)
        check_unchanged(source)
        return loaded
    if source.weights in _encoders:
        encoder, trained_pooler = _encoders[source.weights]
        return copy.deepcopy(encoder), trained_pooler
    import torch

    before = torch.get_rng_state()
    _encoders.clear()  # first, or two would be in memory
    encoder, trained_pooler = source.checkpoint.load_encoder()
    check_unchanged(source)  # they may have been overwritten while they were read
    if torch.equal(before, torch.get_rng_state()) and not source.remote_code:
        _encoders[source.weights] = encoder, trained_pooler
        encoder = copy.deepcopy(encoder)
    return encoder, trained_pooler


_encoders: dict[str, tuple[Any, bool]] = {}
"""The last loaded encoder, by the hash of its weights, kept for the next trial of the same."""


NO_LIMIT = 10**7


def reader_of(source: ModelSource) -> Read:
    """A function that tokenizes a split for this checkpoint, up to the maximum length of the task or encoder.

    :raises SettingsError: for a baseline, which has no tokenizer
    """
    if not source.is_checkpoint:
        raise SettingsError(
            f"{opt('model', source.name)}: a baseline has no tokenizer", fix="name a checkpoint."
        )
    tokenizer, most = source.checkpoint.tokenizer, source.checkpoint.size.most

    def read(task: Task, rows: Sequence[Example]) -> TokenizedSplit:
        formulation = formulations.bind(task)
        units = formulation.units(rows)
        limit = min(task.max_length, most or task.max_length)
        whole = formulation.features(units, tokenizer, NO_LIMIT)
        # Only inputs that are too long are made again: an input does not depend on its neighbours.
        long = np.flatnonzero(whole.ids.lengths > limit).tolist()
        return TokenizedSplit(
            whole,
            limit,
            long,
            formulation.features([units[i] for i in long], tokenizer, limit),
            (len(tokenizer.special_tokens.prefix), len(tokenizer.special_tokens.suffix)),
        )

    return read
