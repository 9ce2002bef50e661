"""A cache of vectors of frozen encoders on disk: memory-mapped, limited in size, and checked before use.

An entry is a folder `<cache>/vectors/<hash of its key>/` with one `NUMBER.npy` per array and `key.json`, written to a
temporary folder and renamed. Disk errors never fail a run: vectors are then held in memory.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from blurb.system import leases
from blurb.system.cache import cache_home
from blurb.system.files import hidden_name, text_hash

VERSION = 1
"""Raised by hand when a change gives other vectors for the same key."""
KIND = "vectors"
LIMIT = 10_000_000_000
"""Maximum bytes of all entries; the least recently used are removed first."""
LEASE = ".lease"
"""Lease file, held while entries are removed or put in place."""
Half = npt.NDArray[np.float16]
Fill = Callable[[Sequence[Half]], None]


def stored_vectors(
    key: Mapping[str, object], shapes: Sequence[tuple[int, int]], fill: Fill
) -> tuple[list[Half], str]:
    """The arrays of `key`, read from disk or else computed and stored.

    :param shapes: shapes of the arrays, which are float16
    :param fill: computes the arrays in place
    :returns: the arrays, and a note if they could not be stored, else ""
    """
    text = json.dumps(
        {**key, "shapes": [list(shape) for shape in shapes], "version": VERSION}, sort_keys=True
    )
    path = cache_home() / KIND / text_hash(text)[:32]
    found = _read_entry(path, text, shapes)
    if found is not None:
        return found, ""
    aside = hidden_name(path)
    note = ""
    try:
        try:
            arrays = _reserve_arrays(aside, shapes)
        except OSError as error:
            shutil.rmtree(aside, ignore_errors=True)
            arrays = [np.empty(shape, np.float16) for shape in shapes]
            note = f"held in memory, as they cannot be cached: {error.strerror or error}"
        fill(arrays)
        if note:
            return arrays, note
        try:
            for array in arrays:
                if isinstance(array, np.memmap):
                    array.flush()
            (aside / "key.json").write_text(text, encoding="utf-8")
            arrays = _keep_entry(aside, path, text, shapes) or arrays
        except OSError as error:  # the arrays are whole and stay readable until they are let go
            note = f"not cached: {error.strerror or error}"
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return arrays, note


def _keep_entry(
    aside: Path, path: Path, text: str, shapes: Sequence[tuple[int, int]]
) -> list[Half] | None:
    """Renames a finished entry to its final path; returns the entry of another process if that was faster.

    An existing entry is never replaced, as other processes may have it mapped.
    """
    with leases.held(path.parent / LEASE):
        theirs = _read_entry(path, text, shapes)
        if theirs is None:
            shutil.rmtree(path, ignore_errors=True)  # an existing entry is damaged
            aside.rename(path)
        return theirs


def _read_entry(path: Path, text: str, shapes: Sequence[tuple[int, int]]) -> list[Half] | None:
    """The arrays of an entry if it is complete and has this key; None otherwise."""
    try:
        if (path / "key.json").read_text(encoding="utf-8") != text:
            return None
        arrays = [
            _map_file(path / f"{number}.npy", shape, "r") for number, shape in enumerate(shapes)
        ]
    except (OSError, ValueError, EOFError):  # not there, or cut short
        return None
    if any(
        array.shape != shape or array.dtype != np.float16
        for array, shape in zip(arrays, shapes, strict=True)
    ):
        return None
    with contextlib.suppress(OSError):  # a cache that may be read and not written
        os.utime(path)
    return arrays


def _reserve_arrays(aside: Path, shapes: Sequence[tuple[int, int]]) -> list[Half]:
    """Allocates arrays on disk: writing to a mapped file without allocated space kills the process if the disk is full.

    :raises OSError: if there is not enough space
    """
    requested = sum(2 * rows * columns + 128 for rows, columns in shapes)
    if requested > LIMIT:
        raise OSError(
            f"they need {requested / 1e9:.1f} GB, but the limit of the cache is {LIMIT / 1e9:.0f} GB"
        )
    aside.parent.mkdir(parents=True, exist_ok=True)
    with leases.held(aside.parent / LEASE):
        trim(LIMIT - requested)
        aside.mkdir()
        arrays = []
        for number, shape in enumerate(shapes):
            file = aside / f"{number}.npy"
            _map_file(file, shape, "w+")
            _allocate_file(file)
            arrays.append(_map_file(file, shape, "r+"))
    return arrays


def _map_file(file: Path, shape: tuple[int, int], mode: str) -> Half:
    if 0 in shape:  # nothing can be mapped of an empty file
        return np.zeros(shape, np.float16)
    if mode == "w+":
        return np.lib.format.open_memmap(file, mode="w+", dtype=np.float16, shape=shape)
    return np.lib.format.open_memmap(file, mode=mode)


def _allocate_file(file: Path) -> None:
    """Allocates the full length of a file."""
    if not file.exists():
        return
    size = file.stat().st_size
    with file.open("r+b") as opened:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(opened.fileno(), 0, size)
            return
        opened.seek(128)  # behind the header
        for start in range(128, size, 1 << 24):
            opened.write(bytes(min(1 << 24, size - start)))
        opened.flush()
        os.fsync(opened.fileno())


def trim(limit: int) -> None:
    """Removes the least recently used entries until the rest fits into `limit` bytes; the caller holds the lease.

    Temporary folders of killed runs count as entries. A process that has an entry open can still read it.
    """
    entries = []
    for entry in (cache_home() / KIND).iterdir():
        if entry.is_dir():
            with contextlib.suppress(OSError):
                entries.append(
                    (entry.stat().st_mtime, sum(f.stat().st_size for f in entry.iterdir()), entry)
                )
    total = sum(size for _, size, _ in entries)
    for _, size, entry in sorted(entries):
        if total <= limit:
            return
        shutil.rmtree(entry, ignore_errors=True)
        total -= size
