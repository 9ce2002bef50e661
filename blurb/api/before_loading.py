"""What is wrong with options by themselves, found without torch, models or data: it is told within a second or two."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb.errors import BlurbError, Gathered, SettingsError

if TYPE_CHECKING:
    from blurb.api.options import RunOptions
    from blurb.formulations import Formulation
    from blurb.protocols.protocol import Protocol
    from blurb.tasks import Task


def look(
    options: RunOptions, chosen: list[Task], protocol: Protocol | None, settings: Mapping[str, Any], found: Gathered
) -> None:
    """Adds the errors of device, tracker, engine, models' names, and settings that do not go with a task.

    :param settings: typed, without those that have faults
    """
    from blurb.api.request import check_reference
    from blurb.protocols.protocol import complete
    from blurb.runs import engines
    from blurb.training import devices

    engine = found.tried(engines.parse, options.engine)
    if engine is not None and engines.elsewhere(options.engine):
        found.tried(devices.check_name, options.device)
    else:
        found.tried(devices.check_here, options.device, options.precision)
    if options.track and importlib.util.find_spec(options.track) is None:
        found.add(
            SettingsError(f"--track {options.track} needs the package {options.track}: pip install {options.track}")
        )
    if (
        engine is not None and not options.dry_run and not Path(options.output).exists()
    ):  # else all may be done, and need no engine
        found.tried(engines.check_there, options.engine, options.print_script)
    for model in options.models:
        if isinstance(model, str | Path):
            found.tried(check_reference, str(model))
    try:
        complete({"max_length": 128, **settings})
    except BlurbError as error:
        found.add(error)
        return
    for name in settings:
        found.tried(_check_concerns, name, settings[name], chosen, options.shorthands)
    trained = any(not str(model).startswith("baseline:") for model in options.models)
    if protocol is not None and options.budget is None and trained:
        for task in chosen:
            found.tried(_check_task, task, protocol, settings, options.shorthands)


def _check_concerns(name: str, value: Any, chosen: list[Task], shorthands: Mapping[str, str]) -> None:
    """Raises a SettingsError if a setting concerns no task: its row would have the trials of another row."""
    from blurb import formulations
    from blurb.protocols.settings import SET

    if name not in formulations.specific_settings() or not chosen:
        return
    if not any(name in formulations.of(task).own_settings for task in chosen):
        names = ", ".join(task.name for task in chosen)
        raise SettingsError(
            f"{name}={value} ({shorthands.get(name, SET)}) concerns none of the tasks ({names}); leave it out."
        )


def _check_task(task: Task, protocol: Protocol, settings: Mapping[str, Any], shorthands: Mapping[str, str]) -> None:
    """Raises a SettingsError if relation input or head do not go with a task."""
    from blurb import formulations
    from blurb.heads import heads
    from blurb.protocols.settings import SET, shown

    if not {"head", "relation_input"} & settings.keys():
        return
    formulation: Formulation = formulations.bind(task, protocol.settings(task, settings, parameters=0))
    _ = formulation.needs_original
    name = formulation.settings.head.partition(",")[0]
    kinds = heads.declared(name, "kinds")
    if "head" in settings and protocol.learner != "probe" and kinds is not None and formulation.kind not in kinds:
        named = shown(formulation.settings, "head", lambda setting: shorthands.get(setting, SET))
        raise SettingsError(f"The head {named} does not support {task.name} ({formulation.kind}); see blurb heads.")
