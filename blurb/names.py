"""Names of models as names of folders, and which names cannot be."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection
from urllib.parse import quote

from blurb.errors import SettingsError

LONGEST = 255
"""Bytes of the name of a folder."""
UNFIT = {"Cc", "Cs", "Zl", "Zp"}
"""Unicode's control characters, what is no character, and breaks of lines and paragraphs."""


ESCAPES = {code: repr(chr(code))[1:-1] for code in range(32)}


def check(name: str, what: str, option: str = "--name") -> None:
    """SettingsError if a name could not be written into a table or a folder and read again.

    :param what: whose name it is, as a sentence begins ("The name of the model")
    :param option: that gives another
    """
    bad = next((character for character in name if unicodedata.category(character) in UNFIT), None)
    if bad is not None:
        kind = "bytes that are not UTF-8" if unicodedata.category(bad) == "Cs" else f"the character U+{ord(bad):04X}"
        shown = name.encode("ascii", "backslashreplace").decode().translate(ESCAPES)
        raise SettingsError(
            f"{what} ('{shown}') has {kind} in it, which a table cannot hold; give another with {option}."
        )
    if not name.strip():
        raise SettingsError(f"{what} is empty; give one with {option}.")
    if len(plain(name)) > LONGEST:
        raise SettingsError(f"{what} ('{name[:40]}...') is too long for a folder; give a shorter one with {option}.")


def plain(name: str) -> str:
    """A name of ASCII letters, digits, dots, underscores and hyphens alone: `org/model` is `org-model`."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "model"


def encoded(name: str) -> str:
    """A name so that no other name looks alike; `urllib.parse.unquote` gives it back.

    >>> encoded("org/model"), encoded("model")
    ('org%2Fmodel', '%6Dodel')
    """
    text = quote(name, safe="")
    return text if text != name else f"%{ord(name[0]):02X}{name[1:]}"


def folder(name: str, owners: Callable[[str], Collection[str]]) -> str:
    """The folder of a model: the plain name, unless models of other names alone have it.

    :param owners: the models that a folder is known to be of
    :raises SettingsError: if it is taken, and the encoded name is too long
    """
    there = owners(plain(name))
    if not there or name in there:
        return plain(name)
    if len(encoded(name)) > LONGEST:
        raise SettingsError(f"The folder {plain(name)} is that of {min(there)}; give a shorter name with --name.")
    return encoded(name)
