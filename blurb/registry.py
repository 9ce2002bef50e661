"""A registry of named plug-ins: one file in a package is one entry, and entry points add more.

Nothing is imported before it is asked for, and there is no list to edit: the file name is the name (`bc5_chem.py` is
`bc5-chem`; names starting with `_` and sub-packages are helpers). Two plug-ins of one name are an error.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar, cast

from blurb.errors import SettingsError, UnknownName

T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    """Where a plug-in is: `module:attribute`, and who brought it."""

    name: str
    target: str
    source: str


class Registry(Generic[T]):
    """Lazy entries of one kind.

    :param kind: what an entry is called in messages ("task", "head")
    :param package: package whose modules are the built-in entries
    :param attribute: the name that each of those modules defines
    :param group: entry-point group of the plug-ins of other distributions
    """

    def __init__(self, kind: str, package: str, attribute: str, group: str) -> None:
        self.kind = kind
        self.package = package
        self.attribute = attribute
        self.group = group

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """All entries by name; raises SettingsError if two of them share one."""
        found: dict[str, Entry] = {}
        for entry in self._discover():
            if entry.name in found:
                first = found[entry.name]
                raise SettingsError(
                    f"Two {self.kind}s are called '{entry.name}': {first.target} (from {first.source}) and "
                    f"{entry.target} (from {entry.source}). Rename or uninstall one of them."
                )
            found[entry.name] = entry
        return found

    def _discover(self) -> Iterator[Entry]:
        path = importlib.import_module(self.package).__path__
        for module in pkgutil.iter_modules(path):
            if not module.ispkg and not module.name.startswith("_"):
                target = f"{self.package}.{module.name}:{self.attribute}"
                yield Entry(module.name.replace("_", "-"), target, "blurb")
        for point in entry_points(group=self.group):
            yield Entry(point.name, point.value, point.dist.name if point.dist else "an entry point")

    def names(self) -> list[str]:
        """The names in alphabetical order."""
        return sorted(self.entries)

    def get(self, name: str) -> T:
        """The entry called `name`, or the object that `package.module:Object` points to.

        Raises UnknownName, with the closest name, if there is none.
        """
        if ":" in name:
            return self._load(name)
        if name not in self.entries:
            raise UnknownName(self.kind, name, self.names())
        return self._load(self.entries[name].target)

    def _load(self, target: str) -> T:
        module_name, _, attribute = target.partition(":")
        try:
            return cast(T, getattr(importlib.import_module(module_name), attribute))
        except (ImportError, AttributeError, ValueError, TypeError) as error:  # the last two: `:x`, `.x:y`
            raise SettingsError(f"The {self.kind} '{target}' cannot be imported: {error}.") from error

    def origin(self, name: str) -> str:
        """File (and line, for a class or function) in which an entry is written."""
        value: Any = self.get(name)
        target = name if ":" in name else self.entries[name].target
        module = importlib.import_module(target.partition(":")[0])
        if inspect.isclass(value) or inspect.isfunction(value):
            return f"{inspect.getsourcefile(value)}:{inspect.getsourcelines(value)[1]}"
        return str(module.__file__)
