"""What a process writes into an index: a segment of its own, and the merged one of many small ones."""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from blurb.store.index.segments import SUFFIX, Segment, batch_of, packed, together
from blurb.system.files import FORGOTTEN, replacing

FULL = 100
"""Entries of a segment from which its process begins another, as every entry writes its segment anew."""
Row = Mapping[str, Any]
State = tuple[int, int, int]
"""What changes when a segment is replaced."""


class Writer:
    """The segments of this process, one after the other; nobody else writes to them, so there is no lock.

    :param folder: of the index
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._begin()

    def add(self, rows: Sequence[Row]) -> None:
        """Adds entries; without a word where nothing can be written, as what the index lacks is read from folders."""
        with self._lock, contextlib.suppress(OSError):
            if self._process != os.getpid() or len(self._rows) + len(rows) > FULL:
                self._begin()
            self._rows += rows
            with replacing(self.folder / self.name) as aside:
                aside.write_bytes(packed(batch_of(self._rows)))

    def _begin(self) -> None:
        """Begins a segment; a process that was forked must not go on with that of its parent."""
        self._process = os.getpid()
        self.name = f"{secrets.token_hex(8)}{SUFFIX}"
        self._rows: list[Row] = []


def listed(folder: Path) -> dict[str, State]:
    """The segments in a folder with their states."""
    states = {}
    with contextlib.suppress(OSError), os.scandir(folder) as files:
        for file in files:
            if file.name.endswith(SUFFIX) and not file.name.startswith("."):
                with contextlib.suppress(OSError):
                    states[file.name] = _state(file.stat())
    return states


def merge(folder: Path, merged: Mapping[str, State], parts: Sequence[tuple[Segment, Sequence[int]]]) -> None:
    """Writes rows of segments as one segment, and then removes the segments that it stands for.

    What another process adds to one of them meanwhile may get lost, and is then read from its folder.

    :raises OSError: if nothing can be written
    """
    content = packed(together([(segment.batch, rows) for segment, rows in parts]))
    with replacing(folder / f"{secrets.token_hex(8)}{SUFFIX}") as aside:
        aside.write_bytes(content)
    for name, state in merged.items():
        with contextlib.suppress(OSError):
            if _state(os.stat(folder / name)) == state:
                (folder / name).unlink()
    for left in folder.glob(f".*{SUFFIX}.*"):  # by a process that was killed while it wrote
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > FORGOTTEN:
                left.unlink()


def _state(status: os.stat_result) -> State:
    return status.st_ino, status.st_size, status.st_mtime_ns
