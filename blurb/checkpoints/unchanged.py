"""Whether a checkpoint is still the one that was hashed when its trials were planned: a pretraining may go on in it.

Files are hashed again when their size, times or place on the disk have changed, and while they are so young that a
change might not show in their times.
"""

from __future__ import annotations

from blurb.checkpoints.checkpoint import ADAPTER, Checkpoint
from blurb.checkpoints.source import ModelSource
from blurb.messages.errors import ModelError

YOUNG = 5.0
"""Seconds after a change in which another one may leave the same times: clocks of file systems are coarse."""


def check_trial(source: ModelSource, weights: str, tokenizer: str) -> None:
    """Raises a ModelError if a trial is not of this source, or the source not what it was when the trial was planned.

    :param weights: hash that the trial has
    :param tokenizer: hash of its tokenizer
    """
    if (source.weights, source.tokenizer) != (weights, tokenizer):
        raise ModelError(
            f"The trial is of the weights {weights[:12]} and the tokenizer {tokenizer[:12]}, but {source.name} has "
            f"{source.weights[:12]} and {source.tokenizer[:12]}.",
            fix="Run the command that planned it again.",
        )
    check(source)
    if source.is_checkpoint and source.checkpoint.tokenizer.hash != tokenizer:
        raise ModelError(
            f"the tokenizer of {source.name} has changed since its trials were planned. These trials do not run.",
            where=source.location,
            fix="Run the command again for the new one, or put the old one back.",
        )


def check(source: ModelSource) -> None:
    """Raises a ModelError if the weights, configuration or code of a source are not those that it was made of.

    It costs a hash of the files the first time in a process, and afterwards a look at their sizes and times.
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
        raise ModelError(f"cannot read the weights of {source.name}: {error.strerror}.", where=folder) from error
    if now != source.weights:
        raise ModelError(
            f"the weights or the configuration of {source.name} have changed since its trials were planned "
            f"(hash {now[:12]}, planned {source.weights[:12]}). These trials do not run, as they would be counted as "
            "those of the old weights.",
            where=folder,
            fix="Run the command again for the new ones, or put the old ones back.",
        )


def hash_now(checkpoint: Checkpoint) -> str:
    """The hash of the weights as they are now; files that look as they did when they were hashed are not read."""
    place = str(checkpoint.folder), checkpoint.remote_code
    for read in (checkpoint, _read_again.get(place)):
        if read is not None and _is_unchanged(read):
            return read.weights_hash
    _read_again[place] = Checkpoint(checkpoint.folder, checkpoint.remote_code)
    return _read_again[place].weights_hash


_read_again: dict[tuple[str, bool], Checkpoint] = {}
"""By folder, and whether its code counts: what was read after a change."""


def _is_unchanged(read: Checkpoint) -> bool:
    stamp = read.weights.stamp(read.remote_code)
    newest = max(max(modified, changed) for _, _, modified, changed, _ in stamp) / 1e9
    return read.read_at - newest >= YOUNG and stamp == read.stamp
