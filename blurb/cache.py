"""Where blurb keeps what it can make again: tokenised data, the demo suite, encoders made on the spot."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

KINDS = {
    "features": "tokenised data",
    "vectors": "vectors of frozen encoders",
    "demo": "the synthetic suite",
    "scratch": "encoders built on the spot",
    "rates": "how fast encoders are on this machine",
    "downloads": "releases that were fetched",
}
"""Folders below `home()` and what they hold; all of it can be made or fetched again."""


def home() -> Path:
    """`$BLURB_HOME`, else the user's cache folder."""
    import platformdirs

    return Path(os.environ.get("BLURB_HOME") or platformdirs.user_cache_dir("blurb-bench", appauthor=False))


@dataclass(frozen=True)
class Usage:
    """What one kind of the cache takes.

    :param entries: files and folders directly below the folder of the kind
    :param size: bytes of all files
    """

    kind: str
    entries: int
    size: int


def usage() -> list[Usage]:
    """Every kind with its entries and bytes; what another process removes meanwhile counts as gone."""
    return [Usage(kind, len(list(_entries(kind))), sum(map(_size, _entries(kind)))) for kind in KINDS]


def clear(kind: str) -> int:
    """Removes all entries of a kind; returns the bytes that were freed.

    Entry by entry, each renamed first: a process that looks for one finds it whole or not at all, and the folder stays
    for those that write. A run that is reading its demo data or its scratch encoder at that moment fails; features are
    read at once and safe.
    """
    freed = 0
    for entry in list(_entries(kind)):
        doomed = entry.with_name(f".{entry.name}.{os.getpid()}.cleared")
        try:
            size = _size(entry)
            entry.rename(doomed)
            if doomed.is_dir():
                shutil.rmtree(doomed)
            else:
                doomed.unlink()
        except FileNotFoundError:  # another process was quicker
            continue
        freed += size
    return freed


def _entries(kind: str) -> Iterator[Path]:
    folder = home() / kind
    return folder.iterdir() if folder.is_dir() else iter(())


def _size(path: Path) -> int:
    total = 0
    for file in [path] if path.is_file() else path.rglob("*"):
        try:
            if file.is_file() and not file.is_symlink():
                total += file.stat().st_size
        except OSError:
            continue
    return total
