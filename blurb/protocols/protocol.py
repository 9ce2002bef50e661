"""Protocols: TOML files that say how every task is fine-tuned. `protocols/defaults.toml` holds what they share."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

from blurb import names as name_rules
from blurb import tasks, toml
from blurb.errors import SettingsError, UnknownName
from blurb.protocols.settings import FIELDS, PROBE_FIELDS, Settings, typed

FOLDER = files("blurb.protocols")
DEFAULTS = "defaults"
TOP = {"description", "note", "version", "extends", "seeds", "all", "tasks", "search", "lr_by_size", "learner"}
LEARNERS = ("encoder", "probe")
VERSIONS = 10_000
"""A version is below this, so that `quick@2` and a user's `quick@` with eight digits of a hash are told apart."""
OWN = ("description", "note", "version", "extends")
"""What a protocol does not take over from the one that it extends."""


@dataclass(frozen=True)
class Protocol:
    """One protocol file, checked.

    :param name: as rows show it: `quick`, from version 2 on `quick@2`; of a file `stem@` and 8 digits of its hash
    :param note: shown with every row that it makes ("scores mean nothing"), or empty
    :param everywhere: settings of all tasks
    :param per_task: settings of one task, by task name
    :param seed_values: seeds by task name; the key "" is for all others; a number means 1..n
    :param search: grid that is searched on dev with the first seed before the seeds are run
    :param lr_by_size: (parameters in millions, learning rate below, learning rate from there on), or None
    :param hash: changes with every setting in the file
    :param learner: "encoder" is fine-tuned, "probe" stays as it is under a linear fit
    """

    name: str
    description: str
    note: str
    everywhere: Mapping[str, Any]
    per_task: Mapping[str, Mapping[str, Any]]
    seed_values: Mapping[str, tuple[int, ...]]
    search: Mapping[str, tuple[Any, ...]]
    lr_by_size: tuple[float, float, float] | None
    hash: str
    learner: str = "encoder"

    def settings(self, task: tasks.Task, overrides: Mapping[str, Any], parameters: int) -> Settings:
        """The settings of a task for an encoder of that many parameters."""
        values: dict[str, Any] = dict(defaults())
        values["max_length"] = task.max_length
        if self.lr_by_size is not None:
            limit, below, above = self.lr_by_size
            values["lr"] = below if parameters < limit * 1e6 else above
        values.update(self.everywhere)
        values.update(self.per_task.get(task.name, {}))
        values.update(overrides)
        return Settings(**values)

    def where(self, task: tasks.Task, setting: str) -> str:
        """Where the value of a setting comes from, for messages."""
        if setting in self.per_task.get(task.name, {}):
            return f"protocol {self.name}, task {task.name}"
        if setting in self.everywhere or (setting == "lr" and self.lr_by_size is not None):
            return f"protocol {self.name}"
        return "by default"

    def seeds(self, task: tasks.Task, count: int | None = None) -> tuple[int, ...]:
        """The seeds of a task; `count` (`--seeds N`) means 1..N."""
        if count is not None:
            return tuple(range(1, count + 1))
        if self.learner == "probe":
            return (1,)
        default = tuple(range(1, task.seeds + 1))
        return self.seed_values.get(task.name, self.seed_values.get("", default))

    def grid(self, overrides: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The combinations to search; a setting that is overridden is not searched."""
        axes = {name: values for name, values in self.search.items() if name not in overrides}
        if not axes:
            return []
        return [dict(zip(axes, point, strict=True)) for point in itertools.product(*axes.values())]


def names() -> list[str]:
    """The protocols that come with blurb."""
    shipped = (entry.name.removesuffix(".toml") for entry in FOLDER.iterdir() if entry.name.endswith(".toml"))
    return sorted(name for name in shipped if name != DEFAULTS)


def load(name: str) -> Protocol:
    """A protocol by name, or from a file whose name ends in `.toml`."""
    if name.endswith(".toml"):
        path = Path(name)
        if not path.is_file():
            raise SettingsError(f"The protocol file {path} does not exist.")
        name_rules.check(path.stem, "The name of the protocol file", "--protocol")
        parsed = _parse(path.stem, str(path), toml.read(path))
        # Two versions of a file, or a file with the name of a shipped protocol, must not look alike in a table.
        return replace(parsed, name=f"{path.stem}@{parsed.hash[:8]}")
    plain, at, version = name.partition("@")
    if plain not in names():
        raise UnknownName("protocol", name, names())
    parsed = _parse(plain, f"{plain}.toml", _shipped(plain))
    if at and name != parsed.name and (version, parsed.name) != ("1", plain):
        raise SettingsError(
            f"--protocol {name}: this version of blurb has '{parsed.name}'. A row of another version is made by the "
            "release that came with it, or with its settings in a TOML file."
        )
    return parsed


def complete(values: Mapping[str, Any]) -> Settings:
    """Settings from those of a trial, which leaves out what does not concern its task."""
    return Settings(**{**defaults(), **values})


@functools.cache
def defaults() -> Mapping[str, Any]:
    """The value of every setting that no protocol and nobody changed."""
    values = {key: typed(key, value, "defaults.toml") for key, value in _shipped(DEFAULTS).items()}
    return MappingProxyType(values)


def _shipped(name: str) -> dict[str, Any]:
    return toml.parse((FOLDER / f"{name}.toml").read_text(encoding="utf-8"), f"{name}.toml")


def _parse(name: str, where: str, content: Mapping[str, Any]) -> Protocol:
    for key in content:
        if key not in TOP:
            raise UnknownName(f"section (in {where})", key, sorted(TOP))
    for key in ("tasks", "search"):
        if not isinstance(content.get(key, {}), dict):
            raise SettingsError(f"{where}: [{key}] must be a table.")
    version = content.get("version", 1)
    if type(version) is not int or not 1 <= version < VERSIONS:
        raise SettingsError(f"{where}: version must be a whole number from 1 on, not {version!r}.")
    content = _extended(content, where)
    everywhere = _typed_table(content.get("all", {}), where)
    per_task = {
        _known(task, where): _typed_table(values, f"{where}, task {task}")
        for task, values in content.get("tasks", {}).items()
    }
    seeds = content.get("seeds", {})
    search = {}
    for key, values in content.get("search", {}).items():
        if not isinstance(values, list) or not values:
            raise SettingsError(f"{where}: search.{key} must be a list of values to try, not {values!r}.")
        search[key] = tuple(typed(key, value, f"{where}, search") for value in values)
    sizes = content.get("lr_by_size")
    lr_by_size = None
    if sizes is not None:
        try:
            lr_by_size = (float(sizes["millions"]), float(sizes["below"]), float(sizes["from"]))
        except (KeyError, TypeError, ValueError):
            raise SettingsError(f"{where}: lr_by_size needs millions, below and from.") from None
    relevant = {key: value for key, value in content.items() if key not in OWN}
    if version > 1:
        relevant["version"] = version
    return Protocol(
        name=name if version == 1 else f"{name}@{version}",
        description=str(content.get("description", "")),
        note=" ".join(str(content.get("note", "")).split()),  # one line of a table
        everywhere=everywhere,
        per_task=per_task,
        seed_values=_seeds(seeds, where),
        search=search,
        lr_by_size=lr_by_size,
        hash=hashlib.sha256(json.dumps(relevant, sort_keys=True).encode()).hexdigest(),
        learner=_learner(content, where),
    )


def _learner(content: Mapping[str, Any], where: str) -> str:
    """The learner that a file names; what does not concern a probe must not stand beside it."""
    learner = content.get("learner", LEARNERS[0])
    if learner not in LEARNERS:
        raise UnknownName(f"learner (in {where})", str(learner), LEARNERS)
    if learner == "probe":
        if content.get("seeds", 1) != 1:
            raise SettingsError(f"{where}: a probe is one deterministic fit; leave seeds out.")
        for key in ("search", "lr_by_size"):
            if key in content:
                raise SettingsError(f"{where}: [{key}] does not concern a probe, which chooses for itself on dev.")
        for table in (content.get("all", {}), *content.get("tasks", {}).values()):
            check_probe(table, where)
    return str(learner)


def check_probe(names: Iterable[str], where: str) -> None:
    """SettingsError for a setting that only fine-tuning has: it would change nothing, and look as if it did."""
    for key in names:
        if key not in PROBE_FIELDS:
            raise SettingsError(
                f"{where}: {key} does not concern a probe, which trains no encoder; it has {', '.join(PROBE_FIELDS)}."
            )


def _extended(content: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """`content` over that of the shipped protocol that it `extends`, setting by setting."""
    base = content.get("extends")
    if base is None:
        return content
    if base not in names():
        raise UnknownName(f"protocol to extend (in {where})", str(base), names())
    under = {key: value for key, value in _extended(_shipped(base), f"{base}.toml").items() if key not in OWN}
    settings = {
        task: _over(values, content.get("tasks", {}).get(task)) for task, values in under.get("tasks", {}).items()
    }
    whole = {"all": _over(under.get("all", {}), content.get("all")), "tasks": {**content.get("tasks", {}), **settings}}
    return {**under, **content, **whole}


def _over(under: Any, given: Any) -> Any:
    if given is None:
        return under
    return {**under, **given} if isinstance(given, dict) else given  # what is no table is found out later


def _known(task: str, where: str) -> str:
    """`task` if there is one of that name; a slip of the pen would otherwise cost its settings without a word."""
    names = [known.name for known in tasks.all()]
    if task not in names:
        raise UnknownName(f"task (in {where})", task, names)
    return task


def _typed_table(values: Any, where: str) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise SettingsError(f"{where}: expected a table of settings ({', '.join(FIELDS)}).")
    return {key: typed(key, value, where) for key, value in values.items()}


def _seeds(value: Any, where: str) -> dict[str, tuple[int, ...]]:
    """`seeds = 3` for all tasks, or a table by task name (`default` for the others) of counts or lists of values."""
    table = value if isinstance(value, dict) else {"default": value}
    found = {}
    for task, entry in table.items():
        listed = list(range(1, entry + 1)) if type(entry) is int else entry
        if not isinstance(listed, list) or not listed or not all(type(seed) is int and seed >= 0 for seed in listed):
            raise SettingsError(f"{where}: seeds are a number of runs or a list of whole numbers, not {entry!r}.")
        found["" if task == "default" else _known(task, where)] = tuple(listed)
    return found
