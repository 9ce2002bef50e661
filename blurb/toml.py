"""TOML files that people write: task files, protocols, rules. Whatever is wrong with one is one kind of message."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from blurb.errors import SettingsError

MOST = 4_000_000
"""Bytes of a file: more than a hundred thousand labels, and too few to wait for."""


def read(path: Path) -> dict[str, Any]:
    """The content of a file; SettingsError that names it and, where there is one, the line."""
    try:
        with path.open("rb") as file:  # not all at once: it may be a device without an end
            raw = file.read(MOST + 1)
    except FileNotFoundError:
        raise SettingsError(f"{path}: there is no such file.") from None
    except OSError as error:
        raise SettingsError(f"{path}: the file cannot be read: {error.strerror}.") from None
    if len(raw) > MOST:
        raise SettingsError(f"{path}: larger than a TOML file of settings can be ({MOST:,} bytes).")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise SettingsError(f"{path}:{line}: not UTF-8 at this line (byte 0x{raw[error.start]:02x}).") from None
    return parse(text, str(path))


def parse(text: str, where: str) -> dict[str, Any]:
    """The content of a text; SettingsError, beginning with `where`, if it is not TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{where}: not valid TOML: {error}.") from None
    except RecursionError:
        raise SettingsError(f"{where}: not usable as TOML: brackets are nested too deeply.") from None
    except ValueError as error:  # a number of thousands of digits
        raise SettingsError(f"{where}: not usable as TOML: {str(error).partition(';')[0]}.") from None
