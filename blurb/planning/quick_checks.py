"""Faults and warnings before a run that need no model: found without torch, and told within a second or two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb import formulations, learners, names, tasks
from blurb.checkpoints import Checkpoint, ModelSource, adapter, references, scratch
from blurb.execution.data_sources import data_verdict
from blurb.grouping import by_key
from blurb.heads import OF_TAGS
from blurb.learners import is_named, of_protocol
from blurb.messages import (
    BlurbError,
    ErrorCollector,
    ModelError,
    SettingsError,
    opt,
    option,
    plural,
)
from blurb.planning.request import check_reference, deduplicated, source
from blurb.protocols.protocol import Protocol
from blurb.tasks import Task
from blurb.training import devices, tracking

if TYPE_CHECKING:
    from blurb.cost.model import Estimate
    from blurb.execution.engine import Engine
    from blurb.planning.options import Model, NamedModel, RunOptions, TrainOptions
    from blurb.planning.preflight import Asked
    from blurb.planning.trials import Planned


def look(options: RunOptions, asked: Asked, errors: ErrorCollector) -> None:
    """Adds the errors of name, device, tracker, engine, models' names, and settings that do not go with a task."""
    if options.name is not None:
        errors.tried(names.check, options.name, "The model name")
    if asked.engine is not None and asked.engine.elsewhere:
        errors.tried(devices.check_name, options.device)
    else:
        errors.tried(devices.check_here, options.device, options.precision)
    if options.track and not tracking.seems_installed(options.track):
        what = f"{opt('track', options.track)} needs the package {options.track}: pip install {options.track}"
        errors.add(SettingsError(what))
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
        refused: list[tuple[BlurbError, Any, Task]] = []
        for task in asked.tasks:
            own = ErrorCollector()
            own.tried(_check_task, task, asked.protocol, asked.settings, options.shorthands)
            refused += [(error, next(iter(asked.models or ())), task) for error in own.errors]
        for error in deduplicated(refused):
            errors.add(error)


def _check_concerns(
    name: str, value: Any, chosen: list[Task], shorthands: Mapping[str, str]
) -> None:
    """Raises a SettingsError if a setting concerns no task: its row would have the trials of another row."""
    if name not in formulations.specific_settings() or not chosen:
        return
    if not any(name in formulations.of(task).own_settings for task in chosen):
        names = ", ".join(task.name for task in chosen)
        raise SettingsError(
            f"{name}={value} ({shorthands.get(name, opt('set'))}) concerns none of the tasks ({names})",
            fix="leave it out.",
        )


def _check_task(
    task: Task, protocol: Protocol, settings: Mapping[str, Any], shorthands: Mapping[str, str]
) -> None:
    """Raises a SettingsError if relation input or head do not go with a task."""
    if not {"head", "relation_input"} & settings.keys():
        return
    formulation = formulations.bind(task, protocol.settings(task, settings, parameters=0))
    _ = formulation.needs_original
    if (
        "head" in settings and of_protocol.kind_of(protocol).searches
    ):  # others say themselves which heads they fit
        of_tags = formulation.settings.head.partition(",")[0] in OF_TAGS
        formulation.check_head(
            ("tokens",) if of_tags else None, lambda setting: shorthands.get(setting, opt("set"))
        )


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
        if isinstance(place, Path) and options.base is not None:
            adapter.check(place, options.base)
        elif isinstance(place, Path):
            check_parts(place, options.trust_remote_code, options.tokenizer is None)


def check_parts(folder: Path, remote_code: bool = False, with_tokenizer: bool = True) -> None:
    """Raises all that is wrong with the files of a checkpoint; of a folder that is none, only that."""
    checkpoint, errors = Checkpoint(folder, remote_code), ErrorCollector()
    checkpoint.check_structure()
    checkpoint.check_files(with_tokenizer, errors)
    errors.tell()


HIGHEST_RATE = 0.01
"""Learning rate above which no fine-tuning of a pretrained encoder is known to succeed."""


def warnings_of(planned: Sequence[Planned], expected: Estimate | None, engine: Engine) -> list[str]:
    """Sentences, each with what to do.

    :param expected: None if nothing could be predicted
    """
    if expected is not None and not expected.waiting:
        return []
    return [
        *_rates(planned),
        *_data(planned),
        *(_room(expected, engine) if expected is not None else ()),
    ]


def left_out(planned: Sequence[Planned]) -> Iterator[str]:
    """The datasets of BLURB that nobody chose or left out, and that are not there."""
    there = {task.name for one in planned for task in one.request.tasks}
    if lost := [task.name for task in tasks.load_selection("all") if task.name not in there]:
        yield f"Without {', '.join(lost)}, which the data folder lacks: `blurb data get` says what they need."


def _rates(planned: Sequence[Planned]) -> Iterator[str]:
    """Learning rates at which no pretrained encoder learns."""
    jobs = [job for one in planned for job in one.jobs if job.source.is_checkpoint]
    rates = {float(job.trial.settings["lr"]) for job in jobs if "lr" in job.trial.settings}
    if high := max((rate for rate in rates if rate > HIGHEST_RATE), default=None):
        yield f"lr={high:g} is above {HIGHEST_RATE:g}; pretrained encoders are fine-tuned with rates such as 3e-5."


def _data(planned: Sequence[Planned]) -> Iterator[str]:
    """Data that its rows will call not verified."""
    jobs = [
        job
        for one in planned
        if one.request.suite != "demo"
        for job in one.jobs
        if not job.data.original
    ]
    verdicts = {source: data_verdict(source) for source in dict.fromkeys(job.data for job in jobs)}
    doubtful = by_key(
        (state, source.task)
        for source, state in verdicts.items()
        if state in ("counts only", "differs")
    )
    if doubtful:
        listed = "; ".join(f"{verdict}: {', '.join(names)}" for verdict, names in doubtful.items())
        number, folder = sum(map(len, doubtful.values())), jobs[0].data.folder
        yield (
            f"Not verified as BLURB's, as the rows will say: {number} of {plural(len(verdicts), 'dataset')} "
            f"({listed}). To see where: blurb data verify{option('--data', folder)}"
        )


def _room(expected: Estimate, engine: Engine) -> Iterator[str]:
    """Memory and time that are less than what is predicted."""
    from blurb.cost import calibration

    yield from engine.shortfalls(expected)
    if not engine.elsewhere:
        yield from calibration.lacking_memory(expected)


def sources_of(
    options: TrainOptions, folder: Path, errors: ErrorCollector, fetch: bool
) -> Sequence[tuple[ModelSource, tuple[str, ...]]]:
    """The models that can be loaded, with their tags; the errors of the others are collected.

    :param folder: of the data, from which `scratch:` makes a vocabulary
    :param fetch: whether models of the Hub may be downloaded
    """
    wanted = [one for one in options.named_models if fetch or not _is_remote(one.model)]
    return [
        (each, one.tags)
        for one in wanted
        if (each := _loaded(options, one, folder, errors)) is not None
    ]


def _is_remote(model: Model) -> bool:
    """Whether a reference is that of a model on the Hub."""
    if (
        not isinstance(model, str | Path)
        or is_named(model)
        or str(model).startswith(scratch.PREFIX)
    ):
        return False
    try:
        return not isinstance(references.folder_or_id(str(model)), Path)
    except BlurbError:
        return False  # it is nothing, which is told


def _loaded(
    options: TrainOptions, named: NamedModel, folder: Path, found: ErrorCollector
) -> ModelSource | None:
    model = named.model
    try:
        files = options.casing, options.tokenizer, options.base
        return source(
            model, named.name, options.revision, options.trust_remote_code, folder, *files
        )
    except BlurbError as error:
        parts = ErrorCollector()
        is_folder = isinstance(model, str | Path) and Path(model).expanduser().is_dir()
        if isinstance(error, ModelError) and is_folder and options.base is None:
            parts.tried(check_parts, Path(str(model)).expanduser())
        for each in parts.errors or [error]:
            found.add(each)
    return None
