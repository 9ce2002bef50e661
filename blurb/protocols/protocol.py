"""Protocols: TOML files that define how every task is learned; `settings.Settings` has the common defaults.

Which settings concern the learner of a protocol, the learner says: `blurb.learners.of_protocol.check` refuses others.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from blurb import names as name_rules
from blurb import tasks
from blurb.messages.errors import SettingsError, UnknownName
from blurb.protocols import baselines
from blurb.protocols.settings import DEFAULTS, FIELDS, Settings, in_groups, typed
from blurb.system import toml

FOLDER = files("blurb.protocols")
BASELINES = "baselines"
"""The file of the training settings of baselines, which is no protocol."""
TOP = {
    "description",
    "note",
    "version",
    "extends",
    "seeds",
    "all",
    "tasks",
    "search",
    "lr_by_size",
    "small",
    "learner",
    "baselines",
    "rank",
}
VERSIONS = 10_000
"""Versions are below this, to distinguish `quick@2` from a user's `quick@` followed by eight digits of a hash."""
SMALL = "small"
"""Section of the learning rate of encoders that are too small for `lr_by_size`."""
NOT_SETTINGS = ("description", "note", "version", "extends", "rank")
"""Keys that a protocol does not inherit from the one that it extends."""


@dataclass(frozen=True)
class Protocol:
    """A validated protocol file.

    :param name: name in rows: `quick`, from version 2 on `quick@2`; for a user's file `stem@` and 8 digits of its hash
    :param note: note for all its rows ("scores mean nothing"), or ""
    :param everywhere: settings of all tasks
    :param per_task: settings of single tasks, by task name
    :param seed_values: seeds by task name, with the key "" for all others; a number n means 1 to n
    :param search: grid to search on dev with the first seed, before the other seeds run
    :param lr_by_size: (parameters in millions, learning rate below, learning rate from there on), or None
    :param small: (parameters in millions, learning rate of encoders below, in the place of `lr_by_size`), or None
    :param hash: changes with every setting in the file
    :param learner: name of the kind of learner that reads the checkpoints (`blurb.learners`); "" is fine-tuning
    :param per_baseline: training settings of baselines, over those of `baselines.toml`
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
    learner: str = ""
    per_baseline: baselines.Tables = field(default_factory=dict)
    small: tuple[float, float] | None = None

    def settings(self, task: tasks.Task, overrides: Mapping[str, Any], parameters: int, baseline: str = "") -> Settings:
        """The settings of a task for a model with that many parameters.

        :param baseline: name of a table `[baselines.NAME]`: its settings take the place of all of the protocol but
            those of examples and inputs
        """
        values: dict[str, Any] = {**DEFAULTS, "max_length": task.max_length}
        if self.lr_by_size is not None:
            limit, below, above = self.lr_by_size
            values["lr"] = below if parameters < limit * 1e6 else above
            if self.small is not None and parameters < self.small[0] * 1e6:
                values["lr"] = self.small[1]
        values.update(self.everywhere)
        values.update(self.per_task.get(task.name, {}))
        if baseline:
            values = {**DEFAULTS, **{name: values[name] for name in in_groups("examples", "inputs")}}
            for tables in (default_baselines(), self.per_baseline):
                values.update(baselines.of(tables, baseline, task))
        values.update(overrides)
        return Settings(**values)

    def where(self, task: tasks.Task, setting: str, baseline: str = "") -> str:
        """The origin of a setting's value, for messages."""
        if baseline and setting not in in_groups("examples", "inputs"):
            own = setting in baselines.of(self.per_baseline, baseline, task)
            there = f"[baselines.{baseline}]"
            if own or setting in baselines.of(default_baselines(), baseline, task):
                return f"protocol {self.name}, {there}" if own else f"{there} of {BASELINES}.toml"
            return "by default"
        if setting in self.per_task.get(task.name, {}):
            return f"protocol {self.name}, task {task.name}"
        if setting in self.everywhere or (setting == "lr" and self.lr_by_size is not None):
            return f"protocol {self.name}"
        return "by default"

    def seeds(self, task: tasks.Task, count: int | None = None) -> tuple[int, ...]:
        """The seeds of a task; `count` (`--seeds N`) means 1 to N."""
        if count is not None:
            return tuple(range(1, count + 1))
        default = tuple(range(1, task.seeds + 1))
        return self.seed_values.get(task.name, self.seed_values.get("", default))

    def grid(self, overrides: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The combinations to search; overridden settings are not searched."""
        axes = {name: values for name, values in self.search.items() if name not in overrides}
        if not axes:
            return []
        return [dict(zip(axes, point, strict=True)) for point in itertools.product(*axes.values())]


def names() -> list[str]:
    """The protocols that come with blurb."""
    shipped = (entry.name.removesuffix(".toml") for entry in FOLDER.iterdir() if entry.name.endswith(".toml"))
    return sorted(name for name in shipped if name != BASELINES)


def load(name: str) -> Protocol:
    """Loads a protocol by name, or from a file with the suffix `.toml`."""
    if name.endswith(".toml"):
        path = Path(name)
        if not path.is_file():
            raise SettingsError(f"The protocol file {path} does not exist", fix="check --protocol.")
        name_rules.check(path.stem, "The name of the protocol file", "--protocol")
        content = toml.read(path)
        if "rank" in content:  # rows have the name of a protocol, and tables nothing else of a user's file
            raise SettingsError("rank is for the protocols of blurb", where=path, fix="remove it.")
        parsed = parse(path.stem, str(path), content)
        # Two versions of a file, or a file with the name of a shipped protocol, must not look alike in a table.
        return replace(parsed, name=f"{path.stem}@{parsed.hash[:8]}")
    plain, at, version = name_rules.known_as(name.partition("@")[0], names()), *name.partition("@")[1:]
    if plain not in names():
        raise UnknownName("protocol", name, names(), how=name_rules.file_beside(name))
    parsed = parse(plain, f"{plain}.toml", _shipped(plain), shipped=True)
    if at and plain + at + version != parsed.name and (version, parsed.name) != ("1", plain):
        raise SettingsError(
            f"--protocol {name}: this version of blurb has '{parsed.name}'. For another version use the release of "
            "blurb that has it, or a TOML file with its settings."
        )
    return parsed


@functools.cache
def without_rank() -> frozenset[str]:
    """The protocols whose rows have no rank, as their files say (`rank = false`)."""
    return frozenset(name for name in names() if _shipped(name).get("rank") is False)


def complete(values: Mapping[str, Any]) -> Settings:
    """Completes the settings of a trial, which omits those that do not apply to its task."""
    return Settings(**values)


@functools.cache
def default_baselines() -> baselines.Tables:
    """The training settings of the baselines, unless a protocol has its own."""
    return baselines.parse(_shipped(BASELINES), f"{BASELINES}.toml", _typed_table, _known)


def _shipped(name: str) -> dict[str, Any]:
    return toml.parse((FOLDER / f"{name}.toml").read_text(encoding="utf-8"), f"{name}.toml")


def parse(name: str, where: str, content: Mapping[str, Any], shipped: bool = False) -> Protocol:
    """The protocol in the content of a file; a BlurbError for the first fault.

    :param shipped: whether the file comes with blurb
    """
    for key in content:
        if key not in TOP:
            raise UnknownName(f"section (in {where})", key, sorted(TOP))
    for key in ("tasks", "search"):
        if not isinstance(content.get(key, {}), dict):
            raise SettingsError(f"[{key}] must be a table.", where=where)
    version = content.get("version", 1)
    if type(version) is not int or not 1 <= version < VERSIONS:
        raise SettingsError(f"version must be a whole number of at least 1 (got {version!r}).", where=where)
    own, content = content, _extended(content, where)
    everywhere = _typed_table(content.get("all", {}), where)
    per_task = {
        _known(task, where): _typed_table(values, f"{where}, task {task}")
        for task, values in content.get("tasks", {}).items()
    }
    seeds = content.get("seeds", {})
    search = {}
    for key, values in content.get("search", {}).items():
        if not isinstance(values, list) or not values:
            raise SettingsError(f"search.{key} must be a list of values (got {values!r}).", where=where)
        search[key] = tuple(typed(key, value, f"{where}, search") for value in values)
    sizes = _numbers(content, "lr_by_size", ("millions", "below", "from"), where)
    lr_by_size = None if sizes is None else (sizes[0], sizes[1], sizes[2])
    rate = _numbers(content, SMALL, ("millions", "lr"), where)
    small = (rate[0], rate[1]) if rate and sizes and rate[0] < sizes[0] else None
    if small is None and SMALL in own:
        raise SettingsError(f"[{SMALL}] is for encoders below the size of [lr_by_size].", where=where)
    relevant = {key: value for key, value in content.items() if key not in NOT_SETTINGS}
    if SMALL not in own or shipped:
        # It came to the shipped protocols later: rows of larger encoders are what they were, and keep their hash.
        relevant.pop(SMALL, None)
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
        learner=str(content.get("learner", "")),
        per_baseline=baselines.parse(content.get("baselines", {}), where, _typed_table, _known),
        small=small,
    )


def _numbers(content: Mapping[str, Any], section: str, keys: tuple[str, ...], where: str) -> list[float] | None:
    """The numbers of a section, in the order of the keys; None if it is not there."""
    if (given := content.get(section)) is None:
        return None
    try:
        return [float(given[key]) for key in keys]
    except (KeyError, TypeError, ValueError):
        listed = f"{', '.join(keys[:-1])} and {keys[-1]}"
        raise SettingsError(f"{section} needs the keys {listed}.", where=where) from None


def _extended(content: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """Merges `content` into the shipped protocol that it `extends`, setting by setting."""
    base = content.get("extends")
    if base is None:
        return content
    if base not in names():
        raise UnknownName(f"protocol to extend (in {where})", str(base), names())
    under = {key: value for key, value in _extended(_shipped(base), f"{base}.toml").items() if key not in NOT_SETTINGS}
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
    """Returns `task` if it exists; otherwise a typo would silently drop its settings."""
    names = [known.name for known in tasks.all()]
    if task not in names:
        raise UnknownName(f"task (in {where})", task, names)
    return task


def _typed_table(values: Any, where: str) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise SettingsError(f"expected a table of settings ({', '.join(FIELDS)}).", where=where)
    return {key: typed(key, value, where) for key, value in values.items()}


MOST_SEEDS = 10_000
"""Of a task: a larger number is a typo."""


def _seeds(value: Any, where: str) -> dict[str, tuple[int, ...]]:
    """Parses `seeds = 3` for all tasks, or a table of counts or lists by task name (`default` for the others)."""
    table = value if isinstance(value, dict) else {"default": value}
    seeds = {}
    for task, entry in table.items():
        listed = list(range(1, min(entry, MOST_SEEDS + 1) + 1)) if type(entry) is int else entry
        if not isinstance(listed, list) or not listed or not all(type(s) is int and 0 <= s < 2**63 for s in listed):
            raise SettingsError(
                f"seeds must be a number or a list of numbers from 0 (got {str(entry)[:60]}).", where=where
            )
        if len(listed) > MOST_SEEDS:
            raise SettingsError(f"at most {MOST_SEEDS:,} seeds are run.", where=where)
        seeds["" if task == "default" else _known(task, where)] = tuple(listed)
    return seeds
