"""Reads TOML files from users (task files, protocols, rules), with uniform error messages."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from blurb.messages.errors import DataError, SettingsError
from blurb.system.files import ordinary
from blurb.system.sniffing import decode

MOST_BYTES = 4_000_000
"""Maximum bytes of a file: enough for a hundred thousand labels, and fast to read."""


def read(path: Path) -> dict[str, Any]:
    """The content of a file; SettingsError, with file and line, if it is invalid."""
    try:
        with open(path, "rb", opener=ordinary) as file:
            raw = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise SettingsError("no such file.", where=path) from None
    except OSError as error:
        raise SettingsError(f"cannot read the file: {error.strerror}.", where=path) from None
    if len(raw) > MOST_BYTES:
        raise SettingsError(f"too large for a TOML file of settings (maximum {MOST_BYTES:,} bytes).", where=path)
    try:
        text = decode(raw, path)
    except DataError as error:
        raise SettingsError(error.what, where=error.where, fix=error.fix) from None
    return parse(text, str(path))


def parse(text: str, where: str) -> dict[str, Any]:
    """The content of a text; SettingsError, beginning with `where`, if it is not valid TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"invalid TOML: {error}.", where=where) from None
    except RecursionError:
        raise SettingsError("invalid TOML: brackets are nested too deeply.", where=where) from None
    except ValueError as error:  # a number of thousands of digits
        raise SettingsError(f"invalid TOML: {str(error).partition(';')[0]}.", where=where) from None
