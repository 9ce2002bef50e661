"""Protocols: TOML files that define how every task is learned; `settings.Settings` has the common defaults.

Which settings concern the learner of a protocol, the learner says: `blurb.learners.protocol_learner`
refuses others.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from operator import itemgetter
from pathlib import Path
from typing import Any

from blurb import fields, names as name_rules, tasks
from blurb.fields import Field
from blurb.messages import FIRST, ErrorCollector, SettingsError, UnknownName, opt
from blurb.protocols import baselines
from blurb.protocols.settings import (
    DEFAULTS,
    ELSEWHERE,
    FIELDS,
    MOST_SEEDS,
    TABLE,
    Settings,
    in_groups,
)
from blurb.system import text_files
from blurb.system.files import text_hash

FOLDER = Path(__file__).parent
BASELINES = "baselines"
"""The file of the training settings of baselines, which is no protocol."""
VERSIONS = 10_000
"""Versions are below this, to distinguish `quick@2` from a user's `quick@` followed by eight digits of a hash."""
ADAPTER = "adapter"
"""Section of settings of trials that train an adapter, over those of the task."""
SMALL = "small"
"""Section of the learning rate of encoders that are too small for `lr_by_size`."""
NOT_SETTINGS = ("description", "note", "version", "extends", "rank", "family")
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
    :param adapter: settings of trials that train an adapter, over those of the task
    :param adapter_search: grid of such trials, over these
    :param own_rates: tasks ("" is all) whose rate a file gives over an inherited `lr_by_size`
    :param family: `model_type` of the encoders that its rates were published for; "" if they are for all
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
    adapter: Mapping[str, Any] = field(default_factory=dict)
    family: str = ""
    adapter_search: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    own_rates: frozenset[str] = frozenset()

    @property
    def tables(self) -> list[Mapping[str, Any]]:
        """All tables of settings; of a search, one for each value."""
        searched = [
            {axis: value}
            for grid in (self.search, self.adapter_search)
            for axis, values in grid.items()
            for value in values
        ]
        return [
            self.everywhere,
            self.adapter,
            *self.per_task.values(),
            *self.per_baseline.values(),
            *searched,
        ]

    def settings(
        self, task: tasks.Task, overrides: Mapping[str, Any], parameters: int, baseline: str = ""
    ) -> Settings:
        """The settings of a task for a model with that many parameters.

        Overrides come before tables by kind or size, these before the values of all tasks or one, these before
        defaults. `grid` has what is searched.

        :param baseline: name of a table `[baselines.NAME]`: its settings take the place of all of the protocol but
            those of examples and inputs
        """
        values: dict[str, Any] = {**DEFAULTS, "max_length": task.max_length}
        values |= {
            **self.everywhere,
            **self.per_task.get(task.name, {}),
            **self._by_size(task.name, parameters),
        }
        if baseline:
            values = {
                **DEFAULTS,
                **{name: values[name] for name in in_groups("examples", "inputs")},
            }
            for tables in (default_baselines(), self.per_baseline):
                values.update(baselines.of(tables, baseline, task))
        if {**values, **overrides}["adapter"] != DEFAULTS["adapter"]:
            values.update(self.adapter)
        values.update(overrides)
        return Settings(**values)

    def _by_size(self, task: str, parameters: int) -> dict[str, float]:
        """The settings that the size of a model decides."""
        if self.lr_by_size is None or self.own_rates & {"", task}:
            return {}
        (limit, below, above), (smaller, rate) = self.lr_by_size, self.small or (0.0, 0.0)
        return {
            "lr": rate
            if parameters < smaller * 1e6
            else below
            if parameters < limit * 1e6
            else above
        }

    def remark(self, settings: Mapping[str, Any], family: str) -> str:
        """What a reader of a row should know of its learning rate, if nobody typed it; "" if there is nothing to say.

        :param settings: of one of its trials
        :param family: `model_type` of its encoder; "" if that is not known
        """
        adapter = settings.get("adapter", DEFAULTS["adapter"]) != DEFAULTS["adapter"]
        if adapter and "lr" not in {**self.adapter, **self.adapter_search}:
            return "an adapter at a rate of full fine-tuning, where about ten times that is usual"
        grid = sorted((self.adapter_search if adapter else self.search).get("lr", ()))
        if len(grid) > 1 and settings["lr"] in (grid[0], grid[-1]):
            return f"rate at the edge of the grid {grid[0]:g} to {grid[-1]:g}"
        if not adapter and self.family and family not in ("", self.family):
            return f"rates published for {self.family.upper()}"
        return ""

    def where(self, task: tasks.Task, setting: str, baseline: str = "") -> str:
        """The origin of a setting's value, for messages."""
        if baseline and setting not in in_groups("examples", "inputs"):
            own = setting in baselines.of(self.per_baseline, baseline, task)
            table = f"[baselines.{baseline}]"
            if own or setting in baselines.of(default_baselines(), baseline, task):
                return f"protocol {self.name}, {table}" if own else f"{table} of {BASELINES}.toml"
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
        return self.seed_values.get(
            task.name, self.seed_values.get("", tuple(range(1, task.seeds + 1)))
        )

    def axes(self, overrides: Mapping[str, Any], task: str = "") -> dict[str, tuple[Any, ...]]:
        """The settings to search, with their values: neither overridden, nor decided by a table by kind or size.

        The search of such a table comes before its values, and the table before the search of the protocol.
        """
        asked = {**DEFAULTS, **self.everywhere, **self.per_task.get(task, {}), **overrides}
        adapted = asked["adapter"] != DEFAULTS["adapter"]
        tables = {**self._by_size(task, 0), **(self.adapter if adapted else {})}
        searched = {name: values for name, values in self.search.items() if name not in tables}
        searched |= self.adapter_search if adapted else {}
        return {name: values for name, values in searched.items() if name not in overrides}

    def grid(self, overrides: Mapping[str, Any], task: str = "") -> list[dict[str, Any]]:
        """The combinations to search; with and without an adapter these may be others."""
        axes = self.axes(overrides, task)
        if "adapter" in axes:
            grids = {
                one: self.grid({**overrides, "adapter": one}, task) or [{}]
                for one in axes["adapter"]
            }
            return [{"adapter": one, **point} for one, grid in grids.items() for point in grid]
        return [
            dict(zip(axes, point, strict=True))
            for point in itertools.product(*axes.values())
            if point
        ]


def protocol_names() -> list[str]:
    """The protocols that come with blurb."""
    return sorted(path.stem for path in FOLDER.glob("*.toml") if path.stem != BASELINES)


def load_protocol_file(name: str) -> Protocol:
    """Loads a protocol by name, or from a file with the suffix `.toml`; raises all that is wrong with it."""
    errors = ErrorCollector()
    loaded = read(name, errors)
    errors.stop()
    return loaded


def read(name: str, errors: ErrorCollector) -> Protocol:
    """The protocol as far as it is good; the faults of its keys go to `errors`."""
    if name.endswith(".toml"):
        path = Path(name)
        if not path.is_file():
            raise SettingsError(
                f"The protocol file {path} does not exist", fix=f"check {opt('protocol')}."
            )
        name_rules.check(path.stem, "The name of the protocol file", opt("protocol"))
        content = text_files.read_toml(path)
        if not content:  # as of a file that was written in part
            errors.add(SettingsError("the protocol file is empty", where=path, fix="fill it in."))
        # Rows carry the protocol's name, and tables nothing else of a user's file.
        if "rank" in content:
            errors.add(
                SettingsError("rank is for the protocols of blurb", where=path, fix="remove it.")
            )
        parsed = parse(path.stem, str(path), content, errors)
        # Two versions of a file, or a file with the name of a shipped protocol, must not look alike in a table.
        return replace(parsed, name=f"{path.stem}@{parsed.hash[:8]}")
    plain, at, version = (
        name_rules.resolve_name(name.partition("@")[0], protocol_names()),
        *name.partition("@")[1:],
    )
    if plain not in protocol_names():
        raise UnknownName("protocol", name, protocol_names(), how=name_rules.file_beside(name))
    parsed = parse(plain, f"{plain}.toml", _read_shipped(plain), errors, shipped=True)
    if at and plain + at + version != parsed.name and (version, parsed.name) != ("1", plain):
        raise SettingsError(
            f"{opt('protocol', name)}: this version of blurb has '{parsed.name}'. For another version use the release "
            "of blurb that has it, or a TOML file with its settings."
        )
    return parsed


@cache
def without_rank() -> frozenset[str]:
    """The protocols whose rows have no rank, as their files say (`rank = false`)."""
    return frozenset(name for name in protocol_names() if _read_shipped(name).get("rank") is False)


@cache
def default_baselines() -> baselines.Tables:
    """The training settings of the baselines, unless a protocol has its own."""
    shipped = _read_shipped(BASELINES)
    return baselines.by_task(
        fields.read_table(shipped, baselines.table(), f"{BASELINES}.toml", FIRST)
    )


def _read_shipped(name: str) -> dict[str, Any]:
    return text_files.parse_toml(
        (FOLDER / f"{name}.toml").read_text(encoding="utf-8"), f"{name}.toml"
    )


def parse(
    name: str, where: str, content: Mapping[str, Any], errors: ErrorCollector, shipped: bool = False
) -> Protocol:
    """The protocol in the content of a file, as far as it is good; all faults go to `errors`.

    :param shipped: whether the file comes with blurb
    """
    own, content = content, _extend_shipped(content)
    values = fields.read_table(content, _file_keys(), where, errors)
    sizes, small = values.get("lr_by_size"), values.get(SMALL)
    if small is not None and (sizes is None or small[0] >= sizes[0]):
        if SMALL in own:
            errors.add(
                SettingsError(
                    f"[{SMALL}] is for encoders below the size of [lr_by_size].", where=where
                )
            )
        small = None
    named = [
        ("", own.get("search")),
        ("", own.get("all")),
        *(own["tasks"].items() if isinstance(own.get("tasks"), dict) else ()),
    ]
    relevant = {key: value for key, value in content.items() if key not in NOT_SETTINGS}
    for later in (SMALL, ADAPTER):
        if later not in own or shipped:
            # It came to the shipped protocols later: rows that it does not concern are what they were, as is the hash.
            relevant.pop(later, None)
    version = values.get("version", 1)
    if version > 1:
        relevant["version"] = version
    return Protocol(
        name=name if version == 1 else f"{name}@{version}",
        description=values.get("description", ""),
        note=" ".join(values.get("note", "").split()),  # one line of a table
        everywhere=values.get("all", {}),
        per_task=values.get("tasks", {}),
        seed_values=values.get("seeds", {}),
        search=values.get("search", {}),
        lr_by_size=sizes,
        hash=text_hash(json.dumps(relevant, sort_keys=True, default=str)),
        learner=values.get("learner", ""),
        per_baseline=baselines.by_task(values.get("baselines", {})),
        small=small,
        adapter={
            name: value for name, value in values.get(ADAPTER, {}).items() if name != "search"
        },
        adapter_search=values.get(ADAPTER, {}).get("search", {}),
        own_rates=frozenset(
            name
            for name, table in named
            if "lr_by_size" not in own and isinstance(table, dict) and "lr" in table
        ),
        family=values.get("family", ""),
    )


def _file_keys() -> Field:
    """The keys of a protocol file."""
    by_task = dict.fromkeys((task.name for task in tasks.all()), TABLE)
    axes = {
        name: Field(
            list,
            rule=lambda values: bool(values) and all(values.count(one) == 1 for one in values),
            must="be a list of different values",
            parse=partial(_search_axis, name),
        )
        for name in FIELDS
    }
    search = Field(dict, keys=axes, noun="setting", aliases=ELSEWHERE)
    return Field(
        dict,
        keys={
            **dict.fromkeys(("description", "note", "learner", "family"), Field(str)),
            "rank": Field(bool),
            "version": Field(int, low=1, below=VERSIONS),
            "extends": Field(str, choices=protocol_names(), noun="protocol to extend"),
            "seeds": Field(object, parse=_parse_seeds),
            "all": TABLE,
            ADAPTER: replace(TABLE, keys={**FIELDS, "search": search}),
            "tasks": Field(dict, keys=by_task, noun="task"),
            "search": search,
            "lr_by_size": _section_of_numbers("millions", "below", "from"),
            SMALL: _section_of_numbers("millions", "lr"),
            BASELINES: baselines.table(),
        },
        noun="section",
    )


def _search_axis(name: str, values: list[Any]) -> tuple[Any, ...]:
    return tuple(FIELDS[name].value(name, value) for value in values)


def _section_of_numbers(*names: str) -> Field:
    """A section with a size in millions and rates, which are read in this order."""
    rate = FIELDS["lr"]
    keys = {name: replace(Field() if name == "millions" else rate, required=True) for name in names}
    return Field(dict, keys=keys, parse=itemgetter(*names))


def _extend_shipped(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Merges `content` into the shipped protocol that it `extends`, setting by setting."""
    base = content.get("extends")
    if base not in protocol_names():
        return content
    under = {
        key: value
        for key, value in _extend_shipped(_read_shipped(base)).items()
        if key not in NOT_SETTINGS
    }
    whole = {
        "all": _put_over(under.get("all", {}), content.get("all")),
        "tasks": content.get("tasks", {}),
    }
    if isinstance(whole["tasks"], dict):
        settings = {
            task: _put_over(values, whole["tasks"].get(task))
            for task, values in under.get("tasks", {}).items()
        }
        whole["tasks"] = {**whole["tasks"], **settings}
    # A fixed value ends an inherited search.
    if isinstance(adapter := content.get(ADAPTER), dict):
        above = under.get(ADAPTER, {})
        search = {
            axis: values for axis, values in above.get("search", {}).items() if axis not in adapter
        }
        whole[ADAPTER] = {
            name: one for name, one in {**above, "search": search, **adapter}.items() if one != {}
        }
    return {**under, **content, **whole}


def _put_over(under: Any, given: Any) -> Any:
    if given is None:
        return under
    # What is no table is reported later.
    return {**under, **given} if isinstance(given, dict) else given


def _parse_seeds(given: Any) -> dict[str, tuple[int, ...]]:
    """Parses `seeds = 3` for all tasks, or a table of counts or lists by task name (`default` for the others)."""
    seeds = Field(
        object,
        rule=_are_seeds,
        must=f"be a number or a list of different numbers from 0, at most {MOST_SEEDS:,}",
        parse=lambda one: tuple(_as_list(one)),
    )
    if not isinstance(given, dict):
        return {"": seeds.value("seeds", given)}
    errors, keys = (
        ErrorCollector(),
        dict.fromkeys(("default", *(task.name for task in tasks.all())), seeds),
    )
    values = fields.read_table(given, Field(dict, keys=keys, noun="task"), None, errors)
    errors.stop()
    return {"" if task == "default" else task: listed for task, listed in values.items()}


def _as_list(given: Any) -> Any:
    return range(1, min(given, MOST_SEEDS + 1) + 1) if type(given) is int else given


def _are_seeds(given: Any) -> bool:
    listed = _as_list(given)
    numbers = isinstance(listed, list | range) and all(
        type(seed) is int and 0 <= seed < 2**63 for seed in listed
    )
    return numbers and 0 < len(listed) == len({*listed}) <= MOST_SEEDS
