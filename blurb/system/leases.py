"""Leases: a file says who works on something, by exclusive creation and atomic rename alone.

Network disks may have no locks, and clocks of machines differ. So the owner of a lease changes its file every `BEAT`
seconds, and a lease that did not change for `LIMIT` seconds of an observer's own clock is stale; that of a process of
this machine is stale as soon as the process is gone. A stale lease is taken over. Its owner may only have slept, and
then sees that it has lost the lease: therefore whatever a lease protects is put in place by one rename, before which
the owner asks (`Lease.check`).
"""

from __future__ import annotations

import contextlib
import os
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from blurb.messages import StoreError, notify
from blurb.system.files import disk_time, hidden_name, read_bytes, remove_forgotten
from blurb.system.lease_records import LeaseRecord

BEAT = 10.0
"""Seconds between two beats of the owner of a lease."""
LIMIT = 120.0
"""Seconds without a beat after which a lease is stale: many beats, as a network disk may hang for a while."""
LOOKS = 4
"""A lease is stale only after `LOOKS` + 1 observations: the time between two observations counts for at most
`LIMIT` / `LOOKS`, as the observer may have hung with the disk."""
PAUSES = (0.01, 1.0)
"""Shortest and longest seconds between two tries of `held`."""
SILENCE = 5.0
"""Seconds of waiting for a lease before a message says so."""
END = ".end"
"""Suffix of the lease on ending a lease; doubled, on ending that one."""


class Lost(StoreError):
    """A lease was taken over by another process."""


class Busy(StoreError):
    """A living process has a lease."""


class Lease:
    """A lease that this process has; it beats in a thread of its own until it is released or lost.

    :param news: progress that the next beats write (`LeaseRecord.news`)
    """

    def __init__(self, path: Path, holder: LeaseRecord) -> None:
        self.path = path
        self.token = holder.token
        self.news: Mapping[str, float | None] = {}
        self.lost = False
        self._holder = holder
        # Beats go to this file, not to the path: after a take-over they are written where nobody looks.
        self._file = path.open("r+b", buffering=0)
        self._ended = threading.Event()
        self._writing = threading.Lock()
        threading.Thread(target=self._beats, name=f"lease {path.name}", daemon=True).start()

    def is_held(self) -> bool:
        """Looks whether this process still has the lease; a lost lease stays lost."""
        record = _read_lease(self.path)
        if record is None:  # another may have renamed it by mistake, and puts it back at once
            time.sleep(PAUSES[0])
            record = _read_lease(self.path)
        current = None if record is None else LeaseRecord.parse(record)
        if record is None or (current is not None and current.token != self.token):
            self.lost = True
        elif current is None:  # damaged; the next beat mends it
            self.lost |= not self._ended.is_set() and not os.path.samestat(
                os.fstat(self._file.fileno()), self.path.stat()
            )
        return not self.lost

    def check(self) -> None:
        """Raises `Lost` if another process has taken the lease over."""
        if self.lost or not self.is_held():
            raise Lost(
                f"{self.path}: this process did not show for {LIMIT:.0f} seconds (paused, or the disk hung), and "
                "another has taken its work over. What it had was dropped."
            )

    def release(self) -> None:
        """Gives the lease back. On a disk that is gone it stays, and becomes stale."""
        try:
            with contextlib.suppress(OSError):
                held = self.is_held()
                self._ended.set()
                # A beat to a closed file might reach another file of the same number.
                with self._writing:
                    self._file.close()
                if held:
                    _remove_if_right(self.path, self._is_mine)
        finally:
            self._ended.set()

    def _is_mine(self, content: bytes) -> bool:
        found = LeaseRecord.parse(content)
        return found is None or found.token == self.token

    def _beats(self) -> None:
        while not self._ended.wait(BEAT) and not self.lost:
            with self._writing:
                if self._ended.is_set():
                    return
                self._holder = replace(self._holder, beats=self._holder.beats + 1, news=self.news)
                # The disk hangs, or the file was taken away, which the path will show.
                with contextlib.suppress(OSError):
                    self._file.seek(0)
                    self._file.write(self._holder.content())
                    os.fsync(self._file.fileno())
            with contextlib.suppress(OSError, ValueError):  # ValueError: released meanwhile
                self.is_held()


def take(path: Path) -> Lease | None:
    """Takes a lease if it is free or stale; None if another process, or this one, has it.

    :raises OSError: if the disk cannot be written
    """
    for _ in range(10):
        if (lease := _create_lease(path)) is not None:
            _seen.pop(path, None)
            with contextlib.suppress(OSError):
                # Left by a process that was killed while it ended a stale lease.
                remove_if_stale(_right_to_end(path))
            return lease
        if not remove_if_stale(path):
            return None
        # On some systems deleted files stay visible for a while, and the reverse.
        time.sleep(random.uniform(0, PAUSES[0]))
    return None


@contextlib.contextmanager
def trying(path: Path) -> Iterator[Lease | None]:
    """Takes a lease for the block, or gives None if another has it."""
    lease = take(path)
    try:
        yield lease
    finally:
        if lease is not None:
            lease.release()


@contextlib.contextmanager
def held(path: Path, wait: bool = True) -> Iterator[Lease]:
    """Takes a lease for the block, and waits for it.

    :param wait: also for a living process; otherwise only until it is known whether the process lives
    :raises Busy: if the process lives, without `wait`
    """
    start, notified, pause = time.monotonic(), False, PAUSES[0]
    first = None if wait else read(path)
    while (lease := take(path)) is None:
        current = read(path)
        if (
            not wait
            and current is not None
            and (current.is_here or (first is not None and current != first))
        ):
            raise Busy(f"{path}: {current} has it; wait until that is done, or stop it.")
        if time.monotonic() - start > SILENCE and not notified:
            notify(f"Waiting for {who(path)}, which holds {path}.")
            notified = True
        time.sleep(random.uniform(pause / 2, pause))
        pause = min(PAUSES[1], pause * 1.5)
    try:
        with contextlib.suppress(OSError):
            remove_forgotten(path, path.stat().st_mtime)
        yield lease
    finally:
        lease.release()


def remove_if_stale(path: Path) -> bool:
    """Removes a stale lease; returns whether nobody has it now. To wait for one, call it repeatedly."""
    now = time.monotonic()  # before the disk is read, which may take long
    content = _read_lease(path)
    if content is None:
        _seen.pop(path, None)
        return True
    return _is_stale(path, content, now) and _remove_with_content(path, content)


def wait_for_stale(paths: Iterable[Path]) -> list[Path]:
    """Removes stale leases, watched together for up to some two minutes; returns those that are held.

    One look tells only of processes of this machine.
    """
    left = [path for path in paths if not remove_if_stale(path)]
    limit = time.monotonic() + LIMIT + BEAT
    while left and time.monotonic() < limit:
        time.sleep(min(1.0, LIMIT / 20))
        left = [path for path in left if not remove_if_stale(path)]
    return left


def seems_held(path: Path) -> bool | None:
    """Whether a process has a lease, by one look, for display; None if that cannot be told, as in a read-only folder.

    For a process of another machine the time of the last write counts, by the clock of the disk.
    """
    try:
        holder, beaten = LeaseRecord.parse(read_bytes(path)), path.stat().st_mtime
        if holder is not None and holder.is_here:
            return not holder.is_gone
        return disk_time(path.parent) - beaten < LIMIT
    except FileNotFoundError:
        return False
    except OSError:
        return None


def read(path: Path) -> LeaseRecord | None:
    """Who has, or had, a lease; None if nobody, or if that cannot be read."""
    try:
        return LeaseRecord.parse(read_bytes(path))
    except OSError:
        return None


def who(path: Path) -> str:
    """The holder of a lease in words: host and process."""
    return str(read(path) or "another process")


@dataclass(frozen=True)
class _Look:
    """A lease as it was last seen, when, and for how long it has been seen like that."""

    content: bytes
    at: float
    unchanged: float


_seen: dict[Path, _Look] = {}


def _is_stale(path: Path, content: bytes, now: float) -> bool:
    holder = LeaseRecord.parse(content)
    if holder is not None and holder.is_gone:
        return True
    # The next beat of an owner mends an unreadable lease, so one that was not written for long has no owner. `blurb gc`
    # and `status` see that by one look; watching it for two minutes would tell no more.
    if holder is None and seems_held(path) is False:
        return True
    last = _seen.get(path)
    if last is None or last.content != content:
        _seen[path] = _Look(content, now, 0.0)
        return False
    unchanged = last.unchanged + min(max(0.0, now - last.at), LIMIT / LOOKS)
    _seen[path] = _Look(content, now, unchanged)
    return unchanged >= LIMIT


def _remove_with_content(path: Path, content: bytes) -> bool:
    """Removes a lease with this content; of several processes at once, one does."""
    right = take(_right_to_end(path))  # a lease: its owner may be killed, too
    if right is None:
        return False
    try:
        found = _read_lease(path)
        return found is None or (
            found == content and _remove_if_right(path, lambda record: record == content)
        )
    finally:
        right.release()


def _right_to_end(path: Path) -> Path:
    return path.with_name(f"{path.name}{END}")


def _remove_if_right(path: Path, is_right: Callable[[bytes], bool]) -> bool:
    """Removes a lease by a rename, then looks which one it was; a wrong one is put back."""
    away = hidden_name(path)
    try:
        path.rename(away)
    except FileNotFoundError:
        return True
    if is_right(read_bytes(away)):
        away.unlink()
        return True
    with contextlib.suppress(FileExistsError):  # somebody has taken it meanwhile
        try:
            os.link(away, path)
        except (OSError, AttributeError) as error:  # no links here
            if not isinstance(error, FileExistsError) and not path.exists():
                away.rename(path)
    away.unlink(missing_ok=True)
    return False


def _create_lease(path: Path) -> Lease | None:
    """A new lease, or None if the file exists; it appears with its content if the disk has hard links."""
    holder = LeaseRecord.me()
    aside = hidden_name(path)
    try:
        aside.write_bytes(holder.content())
        try:
            os.link(aside, path)
        except FileExistsError:
            pass  # on NFS also after a success, if its answer was lost
        except (OSError, AttributeError):  # no links here
            try:
                with path.open("xb", buffering=0) as file:
                    file.write(holder.content())
            except FileExistsError:
                return None
    finally:
        aside.unlink(missing_ok=True)
    current = read(path)
    with contextlib.suppress(FileNotFoundError):  # renamed by mistake, and not put back yet
        return (
            Lease(path, holder) if current is not None and current.token == holder.token else None
        )
    return None


def _read_lease(path: Path) -> bytes | None:
    try:
        return read_bytes(path)
    except FileNotFoundError:
        return None
