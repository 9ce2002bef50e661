"""The cache folder, with files that blurb can recreate: tokenised data, vectors, the demo suite, scratch encoders."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from blurb.messages import BlurbError
from blurb.system.files import hidden_name, nearest_existing, size_of

KINDS = {
    "features": "tokenised data",
    "vectors": "vectors of frozen encoders",
    "demo": "the synthetic suite",
    "scratch": "scratch encoders",
    "models": "loaded models, and checkpoints with another tokenizer",
    "trials": "what was read of the trials of stores",
    "intervals": "intervals of the rows of a store",
    "verdicts": "verdicts on data folders",
    "downloads": "downloaded releases",
}
"""Folders below `home()` and their contents, all of which can be recreated or downloaded again."""


def cache_home() -> Path:
    """The cache folder: `$BLURB_HOME`, or by default the user's cache folder.

    :raises BlurbError: if there is no place for it, as for a user of a container without a home
    """
    try:
        path = Path(
            os.environ.get("BLURB_HOME")
            or platformdirs.user_cache_dir("blurb-bench", appauthor=False)
        )
    except RuntimeError:
        path = None
    if path is None or not (
        os.environ.get("BLURB_HOME") or os.access(nearest_existing(path), os.W_OK)
    ):
        raise BlurbError(
            f"There is no cache folder: {path or 'the home folder'} cannot be {'written' if path else 'determined'}.",
            fix="Set BLURB_HOME to a folder of yours.",
        )
    return path


@dataclass(frozen=True)
class Usage:
    """The size of one kind of cache.

    :param entries: number of files and folders directly in its folder
    :param size: bytes of all files
    """

    kind: str
    entries: int
    size: int


def usage() -> list[Usage]:
    """The entries and bytes of every kind; files that another process removes meanwhile are ignored."""
    return [
        Usage(kind, len(list(_entries_of(kind))), sum(map(size_of, _entries_of(kind))))
        for kind in KINDS
    ]


def clear(kind: str) -> int:
    """Removes all entries of a kind; returns the number of freed bytes.

    Each entry is renamed first, so that other processes see it complete or not at all; the folder itself stays. A run
    that is reading its demo data or its scratch encoder at that moment fails; reading features is safe.
    """
    freed = 0
    for entry in list(_entries_of(kind)):
        doomed = hidden_name(entry, "cleared")
        try:
            size = size_of(entry)
            entry.rename(doomed)
            if doomed.is_dir():
                shutil.rmtree(doomed)
            else:
                doomed.unlink()
        except FileNotFoundError:  # another process was quicker
            continue
        freed += size
    return freed


def _entries_of(kind: str) -> Iterator[Path]:
    folder = cache_home() / kind
    return folder.iterdir() if folder.is_dir() else iter(())
