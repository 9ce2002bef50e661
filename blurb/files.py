"""Writing files so that a reader never sees half of one, and a full disk or a kill leaves nothing lying about."""

from __future__ import annotations

import contextlib
import glob
import os
import time
from pathlib import Path

from blurb.errors import StoreError

FORGOTTEN = 3600
"""Seconds after which a file aside is taken for one that a killed process left."""


def write_whole(path: Path, content: bytes) -> None:
    """Aside and renamed; StoreError, about the file asked for, if it cannot be written, and then nothing is left."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    for left in path.parent.glob(f".{glob.escape(path.name)}.[0-9]*"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > FORGOTTEN:
                left.unlink()
    try:
        aside.write_bytes(content)
        aside.replace(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)
