"""Atomic writing of files, file hashes, and folders that are sealed with theirs."""

from __future__ import annotations

import contextlib
import errno
import glob
import hashlib
import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from blurb.messages import (
    COMMANDS,
    TEMPORARY,
    BlurbError,
    DataError,
    StoreError,
    escape_controls,
    may_command_runner,
)

SEAL = "SEAL.json"
NO_FILE = "this is no ordinary file (but a pipe or a device)"
FORGOTTEN = 3600
"""Age in seconds from which a temporary file is assumed to be left from a killed process."""


def open_ordinary(path: str, flags: int) -> int:
    """The `opener` of every file that may be somebody else's: a pipe waits for ever, and a device has no end.

    :raises OSError: for anything but a file or a folder; `open` itself refuses a folder
    """
    handle = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # opening a pipe would wait, too
    kind = os.fstat(handle).st_mode
    if stat.S_ISREG(kind) or stat.S_ISDIR(kind):
        return handle
    os.close(handle)
    raise OSError(errno.EINVAL, NO_FILE, path)


def read_bytes(path: Path) -> bytes:
    """The content of a file; OSError if it cannot be read, or is a pipe or a device."""
    with open(path, "rb", opener=open_ordinary) as file:
        return file.read()


def copy_file(source: str, target: str) -> str:
    """A `copy_function` for `shutil.copytree` that copies only files; a device would be copied for ever."""
    if not os.path.isfile(source):
        raise DataError(NO_FILE, Path(source), fix="remove it.")
    return shutil.copy2(source, target)


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file atomically: readers never see a part of it. Creates its folder if necessary.

    :raises DataError: if it cannot be written; then nothing is left behind
    """
    with writing_whole(path) as aside:
        aside.write_bytes(content)


@contextlib.contextmanager
def writing_whole(path: Path) -> Iterator[Path]:
    """A temporary path for the content of `write_whole`, if it is too large for the memory."""
    try:
        with replacing_file(path) as aside:
            aside.touch()
            remove_forgotten(path, aside.stat().st_mtime)
            yield aside
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}.", path) from error


def remove_forgotten(path: Path, now: float) -> None:
    """Removes the temporary files of a path that killed processes left.

    :param now: by the clock of the disk, as their times are
    """
    for left in path.parent.glob(f".{glob.escape(path.name.removeprefix('.'))}.*.tmp"):
        with contextlib.suppress(OSError):
            if TEMPORARY.search(left.name) and now - left.stat().st_mtime > FORGOTTEN:
                left.unlink()


def write_json(path: Path, content: object) -> None:
    """Writes a JSON file atomically.

    :raises StoreError: for a number that JSON lacks: 1e999 in a file is infinite once it is read
    """
    try:
        text = json.dumps(content, indent=1, allow_nan=False)
    except ValueError as error:
        raise StoreError(f"cannot be written: {error}.", where=path) from None
    write_whole(path, f"{text}\n".encode())


def read_json(path: Path, with_nan: bool = False) -> dict[str, Any]:
    """Reads a JSON object; StoreError if that fails. Characters that command a terminal are escaped.

    :param with_nan: whether to accept NaN and Infinity, which are no JSON: a Trainer writes them
    """
    try:
        text = read_bytes(path).decode("utf-8")
        content = json.loads(
            text, parse_constant=None if with_nan else _no_constant, object_pairs_hook=unique_keys
        )
        if "\\u" in text or COMMANDS.search(text) or may_command_runner(text):
            content = _escape_values(content)
    except (OSError, ValueError, RecursionError) as error:
        # ValueError is for invalid UTF-8, no JSON, or an endless number.
        raise StoreError(f"cannot be read: {error}.", where=path) from error
    if not isinstance(content, dict):
        raise StoreError("no JSON object.", where=path)
    return content


def _no_constant(name: str) -> None:
    """Refuses NaN and Infinity: they are no JSON, and no file of ours has them."""
    raise ValueError(f"it has the number {name}")


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; ValueError if a key has two values, of which readers choose one."""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        for key, value in pairs:
            if entries[key] != value:
                raise ValueError(f"the key {key!r:.40} has two values in one object")
    return entries


def check_types(
    values: Mapping[str, Any], types: Mapping[str, type | tuple[type, ...]], path: Path | str
) -> None:
    """Raises a StoreError for a value that is not of its type; missing values are left to the caller."""
    for name, kinds in types.items():
        kinds = kinds if isinstance(kinds, tuple) else (kinds,)
        if name in values and type(values[name]) not in kinds:
            wanted = " or ".join(kind.__name__ for kind in kinds)
            raise StoreError(
                f"'{name}' must be of type {wanted} (got {type(values[name]).__name__}).",
                where=path,
            )


def _escape_values(value: Any) -> Any:
    if isinstance(value, dict):
        return {escape_controls(name): _escape_values(content) for name, content in value.items()}
    if isinstance(value, list):
        return [_escape_values(content) for content in value]
    return escape_controls(value) if isinstance(value, str) else value


def hidden_name(path: Path, kind: str = "tmp") -> Path:
    """A new hidden name beside a path. It has no process id: two machines or containers may have the same."""
    return path.with_name(f".{path.name.removeprefix('.')}.{secrets.token_hex(8)}.{kind}")


def disk_time(folder: Path) -> float:
    """The time by the clock of a folder's disk, like those of its files; OSError if nothing can be written there."""
    probe = hidden_name(folder / ".clock")
    probe.touch(exist_ok=False)
    try:
        return probe.stat().st_mtime
    finally:
        probe.unlink()


@contextlib.contextmanager
def replacing_file(path: Path) -> Iterator[Path]:
    """A temporary path to write a file to, which then replaces `path`; removed after an error.

    :raises OSError: for a pipe or a device, which would be gone for all (`--leaderboard /dev/null`, as root)
    """
    if not path.name:  # `.` and `/`, beside which no file has a name
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not (path.is_file() or path.is_dir()):  # for a folder the rename fails
        raise OSError(errno.EINVAL, NO_FILE, str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = hidden_name(path)
    try:
        yield aside
        aside.replace(path)
    except OSError as error:
        if error.filename is None:  # for a full disk the system names no file
            error.filename = str(path)
        raise
    finally:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A temporary folder to fill, which is then renamed to `path` unless another process was faster."""
    aside = hidden_name(path)
    try:
        yield aside
        try:
            aside.rename(path)
        except OSError:
            if not path.is_dir():
                raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def file_hash(path: Path) -> str:
    """SHA-256 of a file, as hexadecimal digits."""
    with open(path, "rb", opener=open_ordinary) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def text_hash(text: str) -> str:
    """SHA-256 of a text in UTF-8, as hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def json_hash(content: object) -> str:
    """SHA-256 of the JSON of a content, whatever the order of its keys."""
    return text_hash(json.dumps(content, sort_keys=True))


def seal_folder(folder: Path) -> None:
    """Writes the SHA-256 of all files of a folder into its `SEAL.json`; a kill leaves a folder without one."""
    write_json(folder / SEAL, {"sha256": _hash_files(folder)})


def damaged_files(folder: Path) -> list[str]:
    """Files that are missing, or that differ from the seal; `["SEAL.json"]` if that is missing."""
    try:
        sealed = read_json(folder / SEAL)["sha256"]
        there = _hash_files(folder)
        return sorted(name for name in sealed if there.get(name) != sealed[name])
    except (BlurbError, OSError, KeyError, TypeError):
        return [SEAL]


def _hash_files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): file_hash(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != SEAL
    }


def nearest_existing(path: Path) -> Path:
    """The path itself, or its nearest existing parent; a link to nowhere counts as existing."""
    return next(
        place
        for place in (path.absolute(), *path.absolute().parents)
        if place.exists() or place.is_symlink()
    )


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files in a folder; links and files that cannot be looked at count nothing."""
    total = 0
    for file in path.rglob("*") if path.is_dir() else [path]:
        with contextlib.suppress(OSError):
            total += file.stat().st_size if file.is_file() and not file.is_symlink() else 0
    return total
