"""Writing files so that a reader never sees half of one, and a full disk or a kill leaves nothing; and file hashes."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any

from blurb.errors import DataError, StoreError

FORGOTTEN = 3600
"""Seconds after which a file aside is taken for one that a killed process left."""


def write_whole(path: Path, content: bytes) -> None:
    """Aside and renamed, in a folder that is made if need be.

    :raises DataError: about the file asked for, if it cannot be written; then nothing is left
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _told(path, error) from error
    for left in path.parent.glob(f".{glob.escape(path.name)}.[0-9]*"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > FORGOTTEN:
                left.unlink()
    try:
        aside.write_bytes(content)
        aside.replace(path)
    except OSError as error:
        raise _told(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)


def write_json(path: Path, content: object) -> None:
    """JSON, aside and renamed."""
    write_whole(path, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object; StoreError if it cannot be read."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:  # ValueError: not UTF-8, no JSON, a number without end
        raise StoreError(f"{path} cannot be read: {error}.") from error
    if not isinstance(content, dict):
        raise StoreError(f"{path} does not hold a JSON object.")
    return content


def file_hash(path: Path) -> str:
    """SHA-256 of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _told(path: Path, error: OSError) -> DataError:
    return DataError(f"cannot be written: {error.strerror or error}.", path)
