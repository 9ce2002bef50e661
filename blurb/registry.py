"""A registry of named plug-ins: each module in a package is one entry, and entry points add more.

Nothing is imported before it is needed, and there is no list to edit: the file name is the name (`bilstm_crf.py` is
`bilstm-crf`; names starting with `_` and sub-packages are helpers). Two plug-ins with the same name are an error for
whoever asks for it, and a built-in entry keeps its name. A plug-in that is broken stops nothing that does not need it.

**Data never names code.** A registry has two verbs. `get` takes a name from anywhere, as from the files of a store, and
finds what is registered, nothing else. `load` takes what a person typed, which may also be `folder/file.py:Object` or
`package.module:Object`; that runs the code, and registers the object. There is no third way to code.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import operator
import pkgutil
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.metadata import Distribution, EntryPoint, entry_points
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from blurb import DISTRIBUTION
from blurb.messages import SettingsError, UnknownName, line_of, notify, with_full_stop
from blurb.names import resolve_name
from blurb.system.files import text_hash

T = TypeVar("T")
EXTENSIONS = "blurb.extensions"
"""Package of the folders that may be deleted; what they bring is named by entry points of blurb itself."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
"""Names of plug-ins; others could not be typed, or would be taken for code or a path."""


@dataclass(frozen=True)
class PluginEntry:
    """The location of a plug-in, `module:attribute`, and its distribution."""

    name: str
    target: str
    source: str

    @property
    def extension(self) -> str:
        """The extension of blurb that it is part of; "" for others."""
        package, _, rest = self.target.partition(f"{EXTENSIONS}.")
        return "" if package else rest.partition(".")[0]

    @property
    def is_missing(self) -> bool:
        """Whether its extension was deleted."""
        return (
            bool(self.extension)
            and not (Path(__file__).parent / "extensions" / self.extension).is_dir()
        )


def load_object(target: str, kind: str) -> Any:
    """Imports the object `package.module:Object`; SettingsError if that fails.

    :param target: written in code (a task's reader, a type's formulation), or typed; never read from a file
    :param kind: kind of object, for the message
    """
    module_name, _, attribute = target.partition(":")
    if "/" in module_name:
        raise SettingsError(
            f"Cannot load the {kind} '{target}': a {kind} of your own is in a Python file, "
            f"./NAME.py:{attribute or 'CLASS'}"
        )
    try:
        # What a package prints is not part of a command's answer.
        with contextlib.redirect_stdout(sys.stderr):
            return operator.attrgetter(attribute)(importlib.import_module(module_name))
    except (Exception, SystemExit) as error:  # the code of others raises anything
        # ValueError and TypeError are for `:x` and `.x:y`.
        known = isinstance(error, ImportError | AttributeError | ValueError | TypeError)
        if not known and module_name.partition(".")[0] == "blurb":
            raise
        hint = ""
        if (
            isinstance(error, ModuleNotFoundError)
            and error.name
            and f"{module_name}.".startswith(f"{error.name}.")
        ):
            hint = f" If it is not installed, use its file: ./{module_name.replace('.', '/')}.py:{attribute}"
        what = str(error) if known else f"{type(error).__name__}: {error}"
        raise SettingsError(f"Cannot import the {kind} '{target}': {what}.{hint}") from error


@dataclass(eq=False)
class Registry(Generic[T]):
    """Lazily loaded entries of one kind.

    :param kind: word for an entry in messages ("task", "head")
    :param package: package whose modules are the built-in entries; "" for entry points alone
    :param attribute: the name that each of those modules defines
    :param group: entry-point group for plug-ins of other distributions
    :param contract: what an entry must be, `module:Class`, or several with blanks between them; "" for anything
    :param classes: whether entries are classes below it, not instances
    :param separator: replaces the `_` of file names in names
    :param typed: references that were typed: `name.py:Object` -> path of the file, `package.module:Object` -> None
    """

    kind: str
    package: str
    attribute: str
    group: str
    contract: str = ""
    classes: bool = field(default=False, kw_only=True)
    separator: str = field(default="-", kw_only=True)
    typed: dict[str, Path | None] = field(default_factory=dict, init=False)

    @cached_property
    def entries(self) -> dict[str, PluginEntry]:
        """All entries by name, without those of `faults`, of which a note tells."""
        for fault in self.faults.values():
            notify(fault)
        return self._sorted_out[0]

    @property
    def faults(self) -> dict[str, str]:
        """Faults of names of plug-ins: two share one, or nobody could type it; a built-in entry keeps its name."""
        return self._sorted_out[1]

    @cached_property
    def _sorted_out(self) -> tuple[dict[str, PluginEntry], dict[str, str]]:
        entries: dict[str, PluginEntry] = {}
        faults: dict[str, str] = {}
        for entry in self._discover():
            if entry.is_missing:
                continue
            name, first = entry.name, entries.setdefault(entry.name, entry)
            if not NAME.fullmatch(name):
                faults[name] = (
                    f"No {self.kind} can have the name {name!r} ({entry.target}, from {entry.source}). Rename or "
                    "uninstall it."
                )
            elif first is not entry:
                stays = " That of blurb stays." if first.source == "blurb" else ""
                faults[name] = (
                    f"Two {self.kind}s have the name '{name}': {first.target} (from {first.source}) and "
                    f"{entry.target} (from {entry.source}).{stays} Rename or uninstall one of them."
                )
        return {
            name: one
            for name, one in entries.items()
            if name not in faults or one.source == "blurb"
        }, faults

    @cached_property
    def built_in(self) -> dict[str, str]:
        """Name -> target of the modules of the package, which keep their names whatever else is installed."""
        path = importlib.import_module(self.package).__path__ if self.package else ()
        return {
            module.name.replace(
                "_", self.separator
            ): f"{self.package}.{module.name}:{self.attribute}"
            for module in pkgutil.iter_modules(path)
            if not module.ispkg and not module.name.startswith("_")
        }

    def _discover(self) -> Iterator[PluginEntry]:
        yield from (PluginEntry(name, target, "blurb") for name, target in self.built_in.items())
        for point in _installed_points(self.group):
            target = point.value.partition("[")[0].strip()  # without extras
            source = _name_of(point.dist) if point.dist else "an entry point"
            yield PluginEntry(point.name, target, "blurb" if source == DISTRIBUTION else source)

    @property
    def missing(self) -> dict[str, PluginEntry]:
        """Names of entries that a deleted extension brings."""
        return {entry.name: entry for entry in self._discover() if entry.is_missing}

    def names(self) -> list[str]:
        """The names in alphabetical order."""
        return sorted(self.entries)

    def get(self, name: str) -> T:
        """The entry with that name, or what was loaded by that name; a name in a file can do no more.

        Raises UnknownName, with the closest name, if there is none.
        """
        name = self.registered(name)
        if name in self.typed:
            path = self.typed[name]
            return (
                self.load_target(name)
                if path is None
                else self._load_file(path, name.rpartition(":")[2])
            )
        if name not in self.entries and name in self.faults:
            raise SettingsError(self.faults[name])
        if name not in self.entries:
            self.check_present(name)
            raise UnknownName(
                self.kind, name, [*self.names(), *self.typed], how=_advice_for(self.kind, name)
            )
        return self.load_target(
            self.entries[name].target, f"{name} of the package {self.entries[name].source}"
        )

    def check_present(self, name: str) -> None:
        """Raises a SettingsError for what an extension brings that was deleted here."""
        if (entry := self.missing.get(name)) is not None:
            kind = "option" if name.rpartition(".")[2].startswith("--") else self.kind
            raise SettingsError(
                f"The {kind} '{name.rpartition('.')[2]}' is part of the extension '{entry.extension}', which is "
                f"not installed here ({EXTENSIONS}.{entry.extension}).",
                fix="Install the whole of blurb, as README says.",
            )

    def known(self, name: str, get: Callable[[str], T] | None = None) -> T | None:
        """The entry of that name; None if there is none, or a plug-in that is broken, of which a note tells.

        :param get: instead of `get`
        """
        if name not in self.entries:
            return None
        try:
            return (get or self.get)(name)
        except SettingsError as error:
            if self.is_builtin(name):
                raise
            notify(f"{with_full_stop(str(error))} It is left out.")
            return None

    def usable(self, get: Callable[[str], T] | None = None) -> dict[str, T]:
        """All entries by name, without plug-ins that are broken: they must not stop what does not need them."""
        return {name: one for name in self.names() if (one := self.known(name, get)) is not None}

    def load(self, reference: str) -> T:
        """Load an entry as typed: a name, `package.module:Object` or `folder/file.py:Object`, whose code then runs.

        :raises UnknownName: with the closest name, if it does not exist
        :raises SettingsError: if the code cannot be loaded, or another file has this name
        """
        short, path = self.short(reference), _path_of(reference)
        if ":" not in reference or (
            reference in self.typed and path is not None and not path.exists()
        ):
            return self.get(reference)
        if self.typed.get(short, path) != path:
            raise SettingsError(
                f"Two {self.kind}s have the name '{short}': {self.typed[short]} and {path}.",
                fix="Rename one of the files.",
            )
        found = (
            self.load_target(reference)
            if path is None
            else self._load_file(path, reference.rpartition(":")[2])
        )
        self.typed |= {short: path, reference: path}
        return found

    def short(self, name: str) -> str:
        """The name of a plug-in in trials; without folders if it is from a file, as they are specific to a machine."""
        file, _, attribute = name.rpartition(":")
        return f"{Path(file).name}:{attribute}" if _is_file(name) else self.registered(name)

    def registered(self, name: str) -> str:
        """The name of the entry that a person typed in other letters, such as `CRF`; else the name itself."""
        return name if ":" in name else resolve_name(name, self.entries)

    def is_plugin(self, name: str) -> bool:
        """Whether an entry is not built in."""
        return ":" in name or self.entries[name].source != "blurb"

    def is_builtin(self, text: str) -> bool:
        """Whether a text is the name of a built-in entry, and nothing more."""
        return (
            text in self.entries and text not in self.typed and self.entries[text].source == "blurb"
        )

    def load_target(self, target: str, name: str = "") -> T:
        """The object `module:attribute`, which no file names, if it is what an entry must be.

        :param name: of the entry, for messages
        """
        return self._of_contract(load_object(target, self.kind), name or target)

    def _of_contract(self, entry: Any, name: str) -> T:
        """An entry, unless it is something else; nothing of it is asked, as an attribute of a stranger may raise."""
        kinds = tuple(load_object(one, "type") for one in self.contract.split())
        kind = (
            type(entry) if not self.classes else entry if issubclass(type(entry), type) else object
        )
        if kinds and not issubclass(kind, kinds):
            must = "a class below " * self.classes + self.contract.replace(":", ".").replace(
                " ", " or "
            )
            raise SettingsError(
                f"The {self.kind} {name} is of type {type(entry).__name__}, not {must}"
            )
        return cast(T, entry)

    def _load_file(self, path: Path, attribute: str) -> T:
        """The object of a file, which runs once per process; its folder is not added to the path."""
        name = f"{path.name}:{attribute}"
        if not path.is_file():
            raise SettingsError(
                f"Cannot load the {self.kind} '{name}': the file {path} does not exist."
            )
        module_name = f"blurb_plugin_{text_hash(str(path))[:12]}_{path.stem}"
        module = sys.modules.get(module_name)
        if module is None:
            spec = importlib.util.spec_from_file_location(module_name, path)
            if spec is None or spec.loader is None:
                raise SettingsError(
                    f"Cannot load the {self.kind} '{name}': {path} is not a Python file."
                )
            module = importlib.util.module_from_spec(spec)
            sys.modules[module_name] = module  # before it is run: data classes look their module up
            try:
                with contextlib.redirect_stdout(sys.stderr):
                    spec.loader.exec_module(module)
            except (Exception, SystemExit) as error:
                del sys.modules[module_name]
                raise SettingsError(
                    f"{type(error).__name__}: {error}", where=line_of(error, path)
                ) from error
        if not hasattr(module, attribute):
            raise SettingsError(
                f"Cannot load the {self.kind} '{name}': {path} does not define {attribute}."
            )
        return self._of_contract(getattr(module, attribute), name)

    def origin(self, name: str) -> str:
        """The file (and line, for a class or function) that defines an entry."""
        value: Any = self.get(name)
        if inspect.isclass(value) or inspect.isfunction(value):
            return f"{inspect.getsourcefile(value)}:{inspect.getsourcelines(value)[1]}"
        target = name if name in self.typed else self.entries[name].target
        return str(importlib.import_module(target.partition(":")[0]).__file__)


@cache  # asked for each of its entry points, and it parses the metadata anew
def _name_of(package: Distribution) -> str:
    return package.name


def _installed_points(group: str) -> Iterable[EntryPoint]:
    """The entry points of a group; none, with a note, if a package has a file of them that cannot be read."""
    try:
        return entry_points(group=group)
    except ValueError as error:  # not UTF-8, of whichever package
        notify(
            f"Plug-ins are left out, as the entry_points.txt of an installed package cannot be read: {error}."
        )
        return ()


def _is_file(name: str) -> bool:
    return name.rpartition(":")[0].endswith(".py")


def _path_of(reference: str) -> Path | None:
    """The file of a reference; None for a module."""
    return (
        Path(reference.rpartition(":")[0]).expanduser().resolve() if _is_file(reference) else None
    )


def _advice_for(kind: str, name: str) -> str:
    """Advice for code that is named in data, or a file without its class; "" for a plain name."""
    if ":" not in name:
        return (
            f" Write ./{name.removeprefix('./')}:CLASS for a {kind} of your own."
            if name.endswith(".py")
            else ""
        )
    example = shlex.quote(f"./{name.rpartition('/')[2]}" if _is_file(name) else name)
    typed = (
        f"Give its code with --{kind} {example}, or install"
        if kind in ("head", "pooling", "engine")
        else "Install"
    )
    return f" Code that a file names is not run. {typed} it as a plug-in."
