"""What is wrong with options by themselves, found without torch, models or data: it is told within a second or two."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb import formulations, learners
from blurb.checkpoints import Checkpoint, references, scratch
from blurb.doctor import checkpoint as doctor
from blurb.heads import heads
from blurb.learners import is_named, of_protocol
from blurb.messages.errors import BlurbError, ErrorCollector, ErrorGroup, ModelError, SettingsError
from blurb.messages.spelling import opt
from blurb.planning.request import check_reference
from blurb.training import devices, tracking

if TYPE_CHECKING:
    from blurb.planning.options import Model, RunOptions
    from blurb.planning.preflight import Asked
    from blurb.protocols.protocol import Protocol
    from blurb.tasks import Task


def look(options: RunOptions, asked: Asked, errors: ErrorCollector) -> None:
    """Adds the errors of name, device, tracker, engine, models' names, and settings that do not go with a task."""
    from blurb import names

    if options.name is not None:
        errors.tried(names.check, options.name, "The model name")
    if asked.engine is not None and asked.engine.elsewhere:
        errors.tried(devices.check_name, options.device)
    else:
        errors.tried(devices.check_here, options.device, options.precision)
    if options.track and not tracking.seems_installed(options.track):
        errors.add(
            SettingsError(
                f"{opt('track', options.track)} needs the package {options.track}: pip install {options.track}"
            )
        )
    # In a store that is there, all may be done, which needs no engine.
    if asked.engine is not None and not options.dry_run and not Path(options.output).exists():
        errors.tried(asked.engine.check_there)
    for named in asked.models or ():
        if isinstance(named.model, str | Path):
            errors.tried(check_reference, str(named.model))
    for name, value in asked.settings.items():
        errors.tried(_check_concerns, name, value, asked.tasks, options.shorthands)
    trained = any(not is_named(named.model) for named in asked.models or ())
    if asked.protocol is not None and options.budget is None and trained:
        for task in asked.tasks:
            errors.tried(_check_task, task, asked.protocol, asked.settings, options.shorthands)


def _check_concerns(name: str, value: Any, chosen: list[Task], shorthands: Mapping[str, str]) -> None:
    """Raises a SettingsError if a setting concerns no task: its row would have the trials of another row."""
    if name not in formulations.specific_settings() or not chosen:
        return
    if not any(name in formulations.of(task).own_settings for task in chosen):
        names = ", ".join(task.name for task in chosen)
        raise SettingsError(
            f"{name}={value} ({shorthands.get(name, opt('set'))}) concerns none of the tasks ({names})",
            fix="leave it out.",
        )


def _check_task(task: Task, protocol: Protocol, settings: Mapping[str, Any], shorthands: Mapping[str, str]) -> None:
    """Raises a SettingsError if relation input or head do not go with a task."""
    if not {"head", "relation_input"} & settings.keys():
        return
    formulation = formulations.bind(task, protocol.settings(task, settings, parameters=0))
    _ = formulation.needs_original
    kinds = heads.declared(formulation.settings.head.partition(",")[0], "kinds")
    if "head" in settings and of_protocol.kind_of(protocol).searches:  # others say themselves which heads they fit
        formulation.check_head(kinds, lambda setting: shorthands.get(setting, opt("set")))


def look_at(model: Model, options: RunOptions) -> None:
    """Raises a BlurbError for what a reference and the files of its folder show by themselves."""
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
    checkpoint = Checkpoint(folder)
    problems = [] if doctor.structure(checkpoint) else doctor.parts(checkpoint)
    if len(problems) < 2:  # of no checkpoint at all, nothing that it lacks need be told
        return error
    return ErrorGroup([ModelError(one.what, where=one.where, fix=one.fix) for one in problems])
