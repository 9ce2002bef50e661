"""Whether a checkpoint is still the one that was hashed when its trials were planned: a pretraining may go on in it.

Files are hashed again when their size, times or place on the disk have changed, and while they are so young that a
change might not show in their times.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from blurb.errors import ModelError
from blurb.models.weights import hash_weights, weight_files

if TYPE_CHECKING:
    from blurb.models.source import Source

YOUNG = 5.0
"""Seconds after a change in which another one may leave the same times: clocks of file systems are coarse."""
ADAPTER = "adapter_config.json"
Stamp = tuple[tuple[str, int, int, int, int], ...]
"""Name, size, times of change and place of every file that counts."""


class _Hashed(NamedTuple):
    stamp: Stamp
    at: float
    """Time before it was hashed."""
    weights: str


_known: dict[tuple[str, bool], _Hashed] = {}
"""By folder, and whether its code counts."""


def check_trial(source: Source, weights: str, tokenizer: str) -> None:
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
    if source.is_checkpoint:
        from blurb.models.loading import tokenizer_of

        if tokenizer_of(source).hash != tokenizer:
            raise ModelError(
                f"the tokenizer of {source.name} has changed since its trials were planned. These trials do not run.",
                where=source.location,
                fix="Run the command again for the new one, or put the old one back.",
            )


def check(source: Source) -> None:
    """Raises a ModelError if the weights, configuration or code of a source are not those that it was made of.

    It costs a hash of the files the first time in a process, and afterwards a look at their sizes and times.
    """
    if not source.is_checkpoint:
        return
    folder, now = Path(source.location), ""
    if (folder / ADAPTER).exists():  # transformers would load it, and the base model that it names
        raise ModelError(
            f"{ADAPTER} has come here since the trials of {source.name} were planned. These trials do not "
            "run, as they would be counted as those of the weights without it.",
            where=folder,
            fix="Remove it, or move it elsewhere.",
        )
    try:
        now = _hash(folder, source.remote_code)
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


def _hash(folder: Path, remote_code: bool) -> str:
    key, stamp, at = (str(folder), remote_code), _stamp(folder, remote_code), time.time()
    known = _known.get(key)
    if known is None or known.stamp != stamp or known.at - _newest(stamp) < YOUNG:
        known = _known[key] = _Hashed(stamp, at, hash_weights(folder, remote_code))
    return known.weights


def _stamp(folder: Path, remote_code: bool) -> Stamp:
    code = folder.glob("*.py") if remote_code else ()
    files = [folder / "config.json", *weight_files(folder), *folder.glob("*.index.json"), *code]
    stats = {str(path): path.stat() for path in files}
    return tuple(
        (name, one.st_size, one.st_mtime_ns, one.st_ctime_ns, one.st_ino) for name, one in sorted(stats.items())
    )


def _newest(stamp: Stamp) -> float:
    """Time of the last change, in seconds."""
    return max(max(modified, changed) for _, _, modified, changed, _ in stamp) / 1e9
