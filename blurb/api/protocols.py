"""The protocols and the values that they give to settings, for `blurb protocols`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from blurb import formulations, tasks
from blurb.learners import protocol_learner
from blurb.protocols.protocol import Protocol
from blurb.protocols.settings import FIELDS, settings_by_subject
from blurb.records import Count
from blurb.tasks import Task

DEFAULT = "default"
OF_TASK = "the task"
SEEDS = "seeds"


@dataclass(frozen=True)
class BySize:
    """A learning rate that depends on the encoder.

    :param parameters: encoders with fewer have the rate `below`, the others `above`
    :param below: rate of smaller ones
    :param above: rate of larger ones
    :param small_parameters: encoders with fewer have the rate `small`; 0 if no rate is for them alone
    :param small: rate of encoders of a few million parameters
    """

    parameters: Count
    below: float
    above: float
    small_parameters: Count = 0
    small: float = 0.0


Scalar = str | float | bool | None
Value = Scalar | tuple[float | str, ...] | BySize


@dataclass(frozen=True)
class SettingValue:
    """The value of one setting for one task, with its origin in the protocol.

    :param task: name of the task, as in `blurb tasks`
    :param setting: key of --set, or `seeds`
    :param value: the value; an array has the seeds, or what is searched; an object is a rate by the size of the encoder
    :param origin: what it stands in: the protocol, its part for the task, its search, the task, or the defaults
    """

    task: str
    setting: str
    value: Value
    origin: str


def values(protocol: Protocol, chosen: Sequence[Task]) -> list[SettingValue]:
    """The seeds and all settings that concern the tasks, by task."""
    return [line for task in chosen for line in _task_settings(protocol, task)]


def _task_settings(protocol: Protocol, task: Task) -> list[SettingValue]:
    settings, axes = protocol.settings(task, {}, parameters=0), protocol.axes({}, task.name)
    concerned = _settings_of_task(protocol, task)
    lines = [SettingValue(task.name, SEEDS, protocol.seeds(task), _origin_of_seeds(protocol, task))]
    for setting in (
        name for names in settings_by_subject().values() for name in names if name in concerned
    ):
        value, origin = getattr(settings, setting), protocol.where(task, setting)
        if setting in axes:
            value = axes[setting]
            origin = f"search of protocol {protocol.name}"
        elif (
            setting == "lr"
            and protocol.lr_by_size is not None
            and not protocol.own_rates & {"", task.name}
        ):
            limit, below, above = protocol.lr_by_size
            millions, rate = protocol.small or (0, 0.0)
            value = BySize(round(limit * 1e6), below, above, round(millions * 1e6), rate)
        elif origin == "by default":
            origin = OF_TASK if setting == "max_length" else DEFAULT
        lines.append(SettingValue(task.name, setting, value, origin))
    return lines


def _settings_of_task(protocol: Protocol, task: Task) -> set[str]:
    """The settings that can change what a trial of the task does, whatever its head."""
    formulation = formulations.bind(task)
    foreign = formulations.foreign_settings(formulation)
    foreign |= (
        {"word_pooling", "window"} if formulation.pooled else {"pooling", "ngrams", "min_count"}
    )
    foreign |= {"min_count"} if formulation.has_pair else set()
    kind = protocol_learner.kind_of(protocol)
    return {*(kind.settings if kind.refuses else FIELDS)} - foreign


def _origin_of_seeds(protocol: Protocol, task: Task) -> str:
    kind = protocol_learner.kind_of(protocol)
    if kind.deterministic:
        return f"{kind.rows.noun} is deterministic"
    if task.name in protocol.seed_values:
        return f"protocol {protocol.name}, task {task.name}"
    return f"protocol {protocol.name}" if "" in protocol.seed_values else OF_TASK


def grouped(lines: Sequence[SettingValue]) -> list[tuple[str, str, str, str]]:
    """Setting, value, kind of origin and tasks: tasks with the same value of the same origin share a line."""
    every = list(dict.fromkeys(line.task for line in lines))
    order = list(dict.fromkeys(line.setting for line in lines))
    groups: dict[tuple[str, str, str], list[str]] = {}
    for line in sorted(lines, key=lambda line: order.index(line.setting)):
        kind = (
            line.origin.split(" ")[0]
            if line.origin.startswith(("protocol ", "search "))
            else line.origin
        )
        kind += ", by task" * line.origin.endswith(f", task {line.task}")
        groups.setdefault((line.setting, _write_values(line), kind), []).append(line.task)
    return [
        (setting, value, origin, _name_tasks(names, every))
        for (setting, value, origin), names in groups.items()
    ]


def _name_tasks(names: Sequence[str], every: Sequence[str]) -> str:
    """Tasks in few words: `all`, `all but hoc`, whole types by their name."""
    others = [name for name in every if name not in names]
    if len(others) < min(3, len(names)):
        return f"all but {', '.join(others)}" if others else "all"
    types = {name: tasks.get(name).type for name in every}
    whole = {
        kind
        for kind in types.values()
        if all(name in names for name in every if types[name] == kind)
    }
    several = {kind for kind in whole if list(types.values()).count(kind) > 1}
    return ", ".join(
        dict.fromkeys(types[name] if types[name] in several else name for name in names)
    )


def _write_values(line: SettingValue) -> str:
    """`0.1`, `1 to 5`, `1e-05 or 3e-05`, `0.0001, from 60M parameters 5e-05`."""
    value = line.value
    if isinstance(value, BySize):
        small = f"below {value.small_parameters / 1e6:g}M parameters {value.small:g}, else "
        usual = f"{value.below:g}, from {value.parameters / 1e6:g}M parameters {value.above:g}"
        return f"{small if value.small_parameters else ''}{usual}"
    if not isinstance(value, tuple):
        return _short_value(value)
    if line.setting != SEEDS:
        return " or ".join(map(_short_value, value))
    counted = value == tuple(range(1, len(value) + 1)) and len(value) > 1
    return f"1 to {len(value)}" if counted else ", ".join(map(str, value))


def _short_value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
