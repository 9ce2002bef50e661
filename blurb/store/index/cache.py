"""The file of an index with what this process has read since: finds entries, and makes those that are missing."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

from blurb.grouping import by_key
from blurb.messages import StoreError, Tell, with_effect
from blurb.store.index.entry import (
    IndexEntry,
    Segment,
    batch_of,
    entry_content,
    packed,
    stamp,
    time_of,
    together,
    unpacked,
)
from blurb.store.record import Record
from blurb.store.store import LEFT_OUT, Store, left_out
from blurb.system.files import read_bytes, replacing_file

FOLDER, FILE = ".index", "trials.arrow"
AT_ONCE = 10_000
"""Trials that are read from their folders before they become a segment."""
WORTH = 500
"""Trials that a process read from their folders, half a second, from which it writes the index for the next one."""


class Index:
    """The index of one store, in this process.

    :param root: folder of the store
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self.file = Path(root, FOLDER, FILE)
        self._lock = threading.RLock()
        self._state: tuple[int, ...] | None = None
        self._entries: dict[str, tuple[Segment, int]] = {}
        self._unsaved = 0

    def find(self, key: str, every_file: bool = True) -> IndexEntry | None:
        """The entry of a trial that is as it was when the entry was made; None if its folder has to be read.

        :param key: folder of the model, task and hash, with slashes
        :param every_file: whether size and time of every file must agree; otherwise the time of the folder, which
            says whether files came, went or were replaced, but not whether one was written over
        """
        folder = f"{self.root}/{key}"
        if self._state is None:
            self.refresh()
        known = self._entries.get(key)
        if known is None or known[0].times[known[1]] != time_of(folder):
            return None
        entry = IndexEntry(*known)
        return None if every_file and entry.stamp != stamp(folder) else entry

    def look(
        self, store: Store, keys: Iterable[str], tell: Tell, every_file: bool
    ) -> dict[str, IndexEntry]:
        """The entries of those of these trials that are finished; what the index lacks is read, and written if much.

        :param store: as the user names it, for messages
        :param tell: receives messages about damaged trials
        """
        self.refresh()
        entries: dict[str, IndexEntry] = {}
        missing: list[Mapping[str, Any]] = []
        for key in keys:
            entry = self.find(key, every_file)
            if entry is not None:
                entries[key] = entry
            elif (row := self._folder_content(store, key, tell)) is not None:
                missing.append(row)
                if len(missing) == AT_ONCE:
                    entries |= self._learn(missing)
                    missing = []
        entries |= self._learn(missing)
        if self._unsaved >= WORTH:
            self._write()
        return entries

    def refresh(self) -> None:
        """Reads the file if it is another one than the last time."""
        with self._lock:
            state = _state(self.file)
            if state != self._state:
                self._state = state
                with contextlib.suppress(
                    OSError
                ):  # there is none, or it is not for everybody to read
                    segment = unpacked(read_bytes(self.file))
                    if segment is not None:
                        self._take(segment)

    def _take(self, segment: Segment) -> None:
        self._entries |= zip(
            segment.keys, zip(repeat(segment), range(len(segment.keys))), strict=False
        )

    def _folder_content(self, store: Store, key: str, tell: Tell) -> Mapping[str, Any] | None:
        """The content of an entry, of a trial that is finished and undamaged."""
        path = store.root / key
        if not path.exists():  # planned, and not run yet
            return None
        try:
            folder = f"{self.root}/{key}"  # before its files: if they change meanwhile, it is the state of no entry
            now = {"key": key, "time": time_of(folder) or 0, "stamp": stamp(folder)}
            if damage := store.damage(path):
                tell(left_out(path, damage))
                return None
            return {**now, **entry_content(Record(str(path)))}
        except StoreError as error:
            tell(with_effect(error, LEFT_OUT))
            return None

    def _learn(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, IndexEntry]:
        """The entries of these rows, which are kept in memory at least."""
        if not rows:
            return {}
        segment = Segment(batch_of(rows))
        with self._lock:
            self._take(segment)
            self._unsaved += len(rows)
        return {key: IndexEntry(segment, row) for row, key in enumerate(segment.keys)}

    def _write(self) -> None:
        """Replaces the file by all entries whose folder is as it was; without a word where nothing can be written."""
        with self._lock, contextlib.suppress(OSError):
            self._unsaved = 0
            known = self._entries.items()
            rows = by_key(
                place
                for key, place in known
                if place[0].times[place[1]] == time_of(f"{self.root}/{key}")
            )
            with replacing_file(self.file) as aside:
                aside.write_bytes(
                    packed(together([(segment.batch, some) for segment, some in rows.items()]))
                )


def _state(file: Path) -> tuple[int, ...]:
    """Size and times of a file, which change when it is replaced; empty without one."""
    try:
        status = os.stat(file)
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns


def key_of(path: Path) -> str:
    """The name of a trial in the index: folder of its model, task and hash."""
    return "/".join(path.parts[-3:])


_known: dict[str, Index] = {}


def of(root: Path) -> Index:
    """The index of a store, which all parts of a process share."""
    name = os.path.abspath(root)
    if name not in _known:
        _known[name] = Index(name)
    return _known[name]
