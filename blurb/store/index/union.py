"""All segments of an index together: finds entries, and makes those that are missing."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterable, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

from blurb.messages.errors import StoreError, Tell, followed
from blurb.store.index.entry import Entry, of_record, stamp, time_of
from blurb.store.index.segments import Segment, batch_of, unpacked
from blurb.store.index.writer import Row, State, Writer, listed, merge
from blurb.store.record import Record
from blurb.store.store import LEFT_OUT, Store, left_out
from blurb.system.files import read_bytes

FOLDER = ".index"
MANY, SMALL = 32, 10_000
"""Segments with fewer entries than `SMALL` are merged once there are more than `MANY`: a cluster leaves one a job."""
AT_ONCE = 10_000
"""Trials that are read from their folders before they become a segment."""
WORTH = 500
"""Trials that a reader read from their folders, half a second, from which it begins an index for the next one."""
RETRIES = (0.0, 0.01, 0.1, None)
"""Seconds before segments are listed again when one of them has gone; a network disk may go on listing it."""
Place = tuple[str, int]
"""Key of a trial, and the time of its folder."""


class Index:
    """The index of one store, in this process.

    :param root: folder of the store
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self.folder = Path(root, FOLDER)
        self._writer = Writer(self.folder)
        self._lock = threading.RLock()
        self._segments: dict[str, tuple[State, Segment | None]] = {}
        self._entries: dict[Place, tuple[Segment, int]] = {}
        self._rivals: dict[Place, list[Entry]] = {}
        self._was_read = False

    def find(self, key: str, every_file: bool = True) -> Entry | None:
        """The entry of a trial that is as it was when the entry was made; None if its folder has to be read.

        :param key: folder of the model, task and hash, with slashes
        :param every_file: whether size and time of every file must agree; otherwise the time of the folder, which
            says whether files came, went or were replaced, but not whether one was written over
        """
        folder = f"{self.root}/{key}"
        changed = time_of(folder)
        if changed is None:
            return None
        if not self._was_read:
            self.refresh()
        place = key, changed
        known = self._entries.get(place)
        if known is None:
            return None
        entry = Entry(*known)
        if not (every_file or place in self._rivals):
            return entry
        now = stamp(folder)
        return next((one for one in (entry, *self._rivals.get(place, ())) if one.stamp == now), None)

    def look(
        self, store: Store, keys: Iterable[str], tell: Tell, every_file: bool, create: bool = False
    ) -> dict[str, Entry]:
        """The entries of those of these trials that are finished; what the index lacks is read, and noted.

        :param store: as the user names it, for messages
        :param tell: receives messages about damaged trials
        :param create: whether to begin an index if the store has none
        """
        with contextlib.suppress(OSError):  # exists already, or the disk is read-only
            if create:
                self.folder.mkdir()
                self._entries, self._rivals = {}, {}  # what was only in memory is read again, and written
        self.refresh()
        entries: dict[str, Entry] = {}
        missing: list[Row] = []
        for key in keys:
            entry = self.find(key, every_file)
            if entry is not None:
                entries[key] = entry
            elif (row := self._of_folder(store, key, tell)) is not None:
                missing.append(row)
                if len(missing) == AT_ONCE:
                    entries |= self._learn(missing)
                    missing = []
        if missing:
            entries |= self._learn(missing)
        self._merge()
        return entries

    def note(self, path: Path) -> None:
        """Adds a trial that was sealed just now. Never an error: what the index lacks is read from its folder."""
        key = key_of(path)
        with contextlib.suppress(StoreError):
            self._writer.add([{**self._now(key), **of_record(Record(str(path)))}])

    def refresh(self) -> None:
        """Reads what was written since the last time."""
        with self._lock:
            for wait in RETRIES:
                if self._refresh(patient=wait is not None):
                    break
                time.sleep(wait or 0)
            self._was_read = True

    def _refresh(self, patient: bool) -> bool:
        """Reads new segments.

        :param patient: stop with False if one went meanwhile, as what it had is then in one that was not listed
        """
        states: dict[str, tuple[State, Segment | None]] = {}
        for name, state in listed(self.folder).items():
            known = self._segments.get(name)
            if known and known[0] == state:
                states[name] = known
                continue
            try:
                states[name] = state, unpacked(read_bytes(self.folder / name))
            except OSError as error:  # merged meanwhile, or not for everybody to read
                if patient and isinstance(error, FileNotFoundError):
                    return False
                states[name] = state, None
        gone = self._segments.keys() - states.keys()  # into a merged one; else their entries would stay for ever
        if gone:
            self._entries, self._rivals = {}, {}
        for name, (state, segment) in states.items():
            if segment is not None and (gone or self._segments.get(name) != (state, segment)):
                self._take(segment)
        self._segments = states
        return True

    def _take(self, segment: Segment) -> None:
        rows = zip(repeat(segment), range(len(segment.keys)))
        new = dict(zip(zip(segment.keys, segment.times, strict=True), rows, strict=False))
        if len(new) == len(segment.keys) and self._entries.keys().isdisjoint(new):
            self._entries |= new
            return
        for row, place in enumerate(zip(segment.keys, segment.times, strict=True)):
            known = self._entries.get(place)
            self._entries[place] = segment, row
            if known is not None and (before := Entry(*known)).stamp != Entry(segment, row).stamp:
                self._rivals.setdefault(place, []).append(before)  # replaced within a tick of the clock

    def _of_folder(self, store: Store, key: str, tell: Tell) -> Row | None:
        """The content of an entry, of a trial that is finished and undamaged."""
        path = store.root / key
        if not path.exists():  # planned, and not run yet
            return None
        try:
            now = self._now(key)  # before its files: if they change meanwhile, it is the state of no entry
            if damage := store.damage(path):
                tell(left_out(path, damage))
                return None
            return {**now, **of_record(Record(str(path)))}
        except StoreError as error:
            tell(followed(error, LEFT_OUT))
            return None

    def _now(self, key: str) -> dict[str, Any]:
        folder = f"{self.root}/{key}"
        return {"key": key, "time": time_of(folder) or 0, "stamp": stamp(folder)}

    def _learn(self, rows: Sequence[Row]) -> dict[str, Entry]:
        """The entries of these rows, which are kept in memory at least."""
        segment = Segment(batch_of(rows))
        if len(rows) >= WORTH:
            with contextlib.suppress(OSError):  # exists already, or the disk is read-only
                self.folder.mkdir()
        with self._lock:
            self._take(segment)
        if self.folder.is_dir():
            self._writer.add(rows)
        return {key: Entry(segment, row) for row, key in enumerate(segment.keys)}

    def _merge(self) -> None:
        """Merges small and damaged segments if there are many; entries that do not hold any more are left out."""
        small = {
            name: one
            for name, one in self._segments.items()
            if name != self._writer.name and (one[1] is None or len(one[1].keys) < SMALL)
        }
        if len(small) <= MANY or not os.access(self.folder, os.W_OK):
            return
        parts: dict[int, tuple[Segment, list[int]]] = {}
        taken = set()
        for segment in (segment for _, segment in small.values() if segment is not None):
            for row, place in enumerate(zip(segment.keys, segment.times, strict=True)):
                entry = self.find(place[0], every_file=place in self._rivals)
                if place not in taken and entry is not None and entry.state == Entry(segment, row).state:
                    taken.add(place)
                    parts.setdefault(id(segment), (segment, []))[1].append(row)
        with contextlib.suppress(OSError):
            merge(self.folder, {name: state for name, (state, _) in small.items()}, list(parts.values()))
            self.refresh()


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
