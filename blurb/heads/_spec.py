"""Plug-ins with options in a single text: `bilstm,hidden=256,layers=2`, `slurm,partition=gpu`.

The options of a head, pooling or engine are the parameters with defaults that its constructor adds. A class with a true
`other_options` is given all others as well, as texts.
"""

from __future__ import annotations

import inspect
from typing import Any, Protocol

from blurb.messages import SettingsError, UnknownName

WORDS = {"true": True, "false": False}


class Plugins(Protocol):
    """The part of a registry of classes that is used here."""

    kind: str

    def get(self, name: str) -> Any:
        """The class of that name."""

    def short(self, name: str) -> str:
        """Its name in trials."""

    def is_builtin(self, text: str) -> bool:
        """Whether a text is the name of a built-in class, and nothing more."""


def plugin_options(plugin: type) -> dict[str, Any]:
    """Name and default of every option of a class; SettingsError if a default is something else."""
    values = {}
    for parameter in inspect.signature(plugin).parameters.values():
        if parameter.default is not parameter.empty:
            if not isinstance(parameter.default, bool | int | float | str):
                raise SettingsError(
                    f"the default of '{parameter.name}' must be a number, bool or string.",
                    where=plugin.__qualname__,
                )
            values[parameter.name] = parameter.default
    return values


def parse_spec(registry: Plugins, text: str) -> tuple[Any, dict[str, Any]]:
    """Parses `name,key=value,...` into the class and the options that differ from their defaults.

    :raises UnknownName: if there is no such plug-in or option
    :raises SettingsError: if a value does not have the type of the default, or an option is repeated or has no value
    """
    where = f"{registry.kind} '{text}'"
    name, pairs = _split_spec(text, where)
    plugin = registry.get(name)
    defaults = plugin_options(plugin) if pairs else {}
    chosen: dict[str, Any] = {}
    for key, value in pairs.items():
        if key in defaults:
            chosen[key] = _typed_option(value, defaults[key], f"{where}: {key}")
        elif getattr(plugin, "other_options", False):
            chosen[key] = value
        else:
            how = getattr(plugin, "options_hint", "")
            raise UnknownName(
                f"option of the {registry.kind} '{name}'", key, defaults, how=how and f" {how}"
            )
    return plugin, {key: value for key, value in chosen.items() if value != defaults.get(key)}


def _split_spec(text: str, where: str) -> tuple[str, dict[str, str]]:
    """The name and the options of `name,key=value,...`.

    >>> _split_spec("slurm,partition=gpu,gres=gpu:1", "engine")
    ('slurm', {'partition': 'gpu', 'gres': 'gpu:1'})
    """
    name, *pairs = text.split(",")
    options: dict[str, str] = {}
    for pair in pairs:
        key, separator, value = (part.strip() for part in pair.partition("="))
        if not separator or not value or key in options:
            raise SettingsError(
                f"each option must be given once, as key=value (got '{pair}').", where=where
            )
        options[key] = value
    return name.strip(), options


def canonical_spec(registry: Plugins, text: str) -> str:
    """Canonical spelling: options sorted, defaults omitted, so that two spellings of a head give the same trial."""
    if registry.is_builtin(text):
        return text
    _, chosen = parse_spec(registry, text)
    return ",".join([registry.short(text.split(",")[0].strip()), *write_options(chosen)])


def write_options(chosen: dict[str, Any]) -> list[str]:
    """Options as `key=value`, sorted."""
    return sorted(
        f"{key}={str(value).lower() if isinstance(value, bool) else value}"
        for key, value in chosen.items()
    )


def _typed_option(text: str, default: Any, where: str) -> Any:
    """`text` as the type of `default`."""
    try:
        return WORDS[text.lower()] if isinstance(default, bool) else type(default)(text)
    except (ValueError, KeyError):
        kind = {bool: "true or false", int: "a whole number", float: "a number"}[type(default)]
        raise SettingsError(f"{where} must be {kind} (got '{text}').") from None
