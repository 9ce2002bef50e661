"""What is wrong with options by themselves, found without torch, models or data: it is told within a second or two."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb.messages.errors import BlurbError, ErrorCollector, ErrorGroup, ModelError, SettingsError

if TYPE_CHECKING:
    from blurb.execution.engine import Engine
    from blurb.formulations import Formulation
    from blurb.planning.options import Model, RunOptions
    from blurb.protocols.protocol import Protocol
    from blurb.tasks import Task


def look(
    options: RunOptions,
    engine: Engine | None,
    chosen: list[Task],
    protocol: Protocol | None,
    settings: Mapping[str, Any],
    errors: ErrorCollector,
) -> None:
    """Adds the errors of device, tracker, engine, models' names, and settings that do not go with a task.

    :param engine: None if what was typed is none
    :param settings: typed, without those that have faults
    """
    from blurb.learners import is_named
    from blurb.planning.request import check_reference
    from blurb.protocols.protocol import complete
    from blurb.training import devices, tracking

    if engine is not None and engine.elsewhere:
        errors.tried(devices.check_name, options.device)
    else:
        errors.tried(devices.check_here, options.device, options.precision)
    if options.track and not tracking.seems_installed(options.track):
        errors.add(
            SettingsError(f"--track {options.track} needs the package {options.track}: pip install {options.track}")
        )
    # In a store that is there, all may be done, which needs no engine.
    if engine is not None and not options.dry_run and not Path(options.output).exists():
        errors.tried(engine.check_there)
    for model in options.models:
        if isinstance(model, str | Path):
            errors.tried(check_reference, str(model))
    try:
        complete({"max_length": 128, **settings})
    except BlurbError as error:
        errors.add(error)
        return
    for name in settings:
        errors.tried(_check_concerns, name, settings[name], chosen, options.shorthands)
    trained = any(not is_named(model) for model in options.models)
    if protocol is not None and options.budget is None and trained:
        for task in chosen:
            errors.tried(_check_task, task, protocol, settings, options.shorthands)


def _check_concerns(name: str, value: Any, chosen: list[Task], shorthands: Mapping[str, str]) -> None:
    """Raises a SettingsError if a setting concerns no task: its row would have the trials of another row."""
    from blurb import formulations
    from blurb.protocols.settings import SET

    if name not in formulations.specific_settings() or not chosen:
        return
    if not any(name in formulations.of(task).own_settings for task in chosen):
        names = ", ".join(task.name for task in chosen)
        raise SettingsError(
            f"{name}={value} ({shorthands.get(name, SET)}) concerns none of the tasks ({names})", fix="leave it out."
        )


def _check_task(task: Task, protocol: Protocol, settings: Mapping[str, Any], shorthands: Mapping[str, str]) -> None:
    """Raises a SettingsError if relation input or head do not go with a task."""
    from blurb import formulations
    from blurb.heads import heads
    from blurb.learners import of_protocol
    from blurb.protocols.settings import SET, shown

    if not {"head", "relation_input"} & settings.keys():
        return
    formulation: Formulation = formulations.bind(task, protocol.settings(task, settings, parameters=0))
    _ = formulation.needs_original
    name = formulation.settings.head.partition(",")[0]
    kinds = heads.declared(name, "kinds")
    trained = of_protocol.kind_of(protocol).searches  # others say themselves which heads they fit
    if "head" in settings and trained and kinds is not None and formulation.kind not in kinds:
        named = shown(formulation.settings, "head", lambda setting: shorthands.get(setting, SET))
        raise SettingsError(
            f"The head {named} does not support {task.name} ({formulation.kind})", fix="see blurb heads."
        )


def look_at(model: Model, options: RunOptions) -> None:
    """Raises a BlurbError for what a reference and the files of its folder show by themselves."""
    from blurb import learners
    from blurb.checkpoints import Checkpoint, references, scratch
    from blurb.planning.request import check_reference

    if not isinstance(model, str | Path):
        return
    reference = str(model)
    check_reference(reference)
    if learners.is_named(reference):
        learners.get_named(reference)
    elif reference.startswith(scratch.PREFIX):
        scratch.size_of(reference)
    else:
        place = references.folder_or_id(reference)
        if isinstance(place, Path):
            try:
                Checkpoint(place, options.trust_remote_code).check_files(with_tokenizer=options.tokenizer is None)
            except ModelError as error:
                raise whole(place, error) from error


def whole(folder: Path, error: ModelError) -> BlurbError:
    """The error of a checkpoint; if its parts have several faults, all of them."""
    from blurb.checkpoints import Checkpoint
    from blurb.doctor import checkpoint as doctor

    checkpoint = Checkpoint(folder)
    problems = [] if doctor.structure(checkpoint) else doctor.parts(checkpoint)
    if len(problems) < 2:  # of no checkpoint at all, nothing that it lacks need be told
        return error
    return ErrorGroup([ModelError(one.what, where=one.where, fix=one.fix) for one in problems])
