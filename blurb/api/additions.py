"""Additions of plug-ins to `import blurb`."""

from __future__ import annotations

from typing import Any

from blurb.messages import SettingsError, UnknownName
from blurb.registry import Registry

names: Registry[Any] = Registry("name", "", "", "blurb.names", "collections.abc:Callable")
"""Functions that extensions and other packages add to `import blurb`, and `Results.plot` of `reports`."""


def front_door(name: str) -> Any:
    """The object that a plug-in adds to `import blurb`; AttributeError without one, or if it cannot be loaded."""
    try:
        return names.get(name)
    except SettingsError as error:
        raise AttributeError(f"blurb.{name}: {error}") from error
    except UnknownName as error:
        raise AttributeError(f"module 'blurb' has no attribute {name!r}") from error
