"""The steps by which options become a request: folders, protocol, models, settings, precision."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from blurb import names, tasks
from blurb.checkpoints import Checkpoint, ModelSource, of_folder, scratch
from blurb.checkpoints.references import folder_or_id
from blurb.checkpoints.source import reader_of
from blurb.data.loading import check_folder, existing_home, hint_at_folder, path_of
from blurb.grouping import by_key
from blurb.heads._spec import canonical_spec
from blurb.inputs.tokenized_split import Read
from blurb.learners import is_named, protocol_learner
from blurb.learners.building import resolve_model
from blurb.messages import BlurbError, DataError, ErrorCollector, SettingsError, opt
from blurb.names import resolve_name
from blurb.planning.options import Model, Tokenizer, TrainOptions
from blurb.protocols import settings
from blurb.protocols.protocol import Protocol
from blurb.store import plugins
from blurb.system.files import nearest_existing
from blurb.tasks import SPLITS, TWELVE, Split, Task, select_tasks
from blurb.training import devices


def find_folders(
    suite: str, data: Path | None, raw: Path | None, chosen: list[Task], has_suite: bool = True
) -> tuple[Path, Path | None]:
    """The folders of the datasets and of the original releases (None if not given).

    Task files name their own data files and need no --data.

    :param has_suite: whether the command has the option --suite
    """
    if suite == "demo":
        from blurb.corpora import demo

        for name, given, what in (("data", data, "data"), ("raw", raw, "originals")):
            if given is not None:
                raise SettingsError(
                    f"{opt('suite', 'demo')} has its own {what}", fix=f"remove {opt(name)}."
                )
        if any(task.is_declared for task in chosen):
            raise SettingsError(
                f"{opt('suite', 'demo')} has its own tasks",
                fix=f"remove {opt('suite')} to run a task file.",
            )
        folder = demo.prepare()
        return folder, folder
    if data is None and chosen and all(task.has_own_paths for task in chosen):
        return Path(chosen[0].file).parent, raw
    data = data or existing_home()
    if data is None:
        hint = f" (or use {opt('suite', 'demo')}, which needs no data)" if has_suite else ""
        raise SettingsError(
            f"Give the folder of the datasets with {opt('data')}{hint}. To get them: blurb data get"
        )
    return data, raw


def load_protocol(protocol: str | Path | None, suite: str) -> Protocol:
    """The named protocol, by default the suite's; loads the code that its file names."""
    loaded = protocol_learner.load(str(protocol or tasks.load_suite(suite).protocol))
    if str(protocol).endswith(".toml"):
        plugins.load_all(loaded.tables)
    return loaded


def available_tasks(chosen: list[Task], data: Path | None) -> list[Task]:
    """The tasks whose files all exist; all tasks if there is none, so that the error names them."""
    folder = data or existing_home()
    if folder is None or not folder.is_dir():
        return chosen
    return [task for task in chosen if not _missing_files(task, folder)] or chosen


def _missing_files(task: Task, folder: Path, needed: Sequence[Split] = SPLITS) -> list[str]:
    return [task.files[split] for split in needed if not path_of(task, folder, split).is_file()]


def check_files(chosen: list[Task], folder: Path, needed: Sequence[Split] = SPLITS) -> None:
    """Raises a DataError that lists every dataset without a needed split, before anything is trained."""
    check_folder(folder)
    missing = {
        task.name: paths for task in chosen if (paths := _missing_files(task, folder, needed))
    }
    if missing:
        others = [task for task in chosen if task.name not in missing]
        there = TWELVE if others == select_tasks(TWELVE) else ",".join(task.name for task in others)
        lost = "; ".join(f"{task} ({', '.join(paths)})" for task, paths in missing.items())
        hint = (
            f" To run the others: {opt('tasks', there)}"
            if there
            else hint_at_folder(chosen, folder)
        )
        raise DataError(f"missing files: {lost}.{hint}", folder)


def check_writable(name: str, folder: Path) -> None:
    """Raises a SettingsError if the folder of an option cannot be created or written; leaves nothing behind."""
    try:
        with tempfile.TemporaryDirectory(dir=nearest_existing(folder)):
            pass
    except OSError as error:
        raise SettingsError(f"{opt(name)}: cannot write to {folder}: {error.strerror}.") from error


def check_reference(reference: str) -> None:
    """Raises a SettingsError for a reference that cannot be a model: nothing, the name of a task, or invalid UTF-8."""
    selections = tasks.selections()
    if not reference:
        raise SettingsError("MODEL is an empty text", fix="name a folder or a model of the Hub.")
    if resolve_name(reference, selections) in selections and not Path(reference).is_dir():
        raise SettingsError(
            f"MODEL '{reference}' is a task",
            fix=f"separate tasks by commas without blanks: {opt('tasks', 'gad,hoc')}.",
        )
    if reference != reference.encode(errors="replace").decode():
        shown = reference.encode("ascii", "backslashreplace").decode()
        raise SettingsError(
            f"The folder name '{shown}' is not valid UTF-8", fix="rename the folder."
        )


ReferenceKind = Literal["loaded", "named", "scratch", "folder", "revision", "hub"]
OF_MODEL = ("tokenizer", "base", "revision", "trust_remote_code", "casing")
"""Options that say how a model is read."""
OF_FOLDER = ("tokenizer", "base", "trust_remote_code", "casing")
USED: Mapping[ReferenceKind, Sequence[str]] = {
    "loaded": ("tokenizer", "casing"),
    "named": (),
    "scratch": ("casing",),
    "folder": OF_FOLDER,
    "revision": OF_FOLDER,
    "hub": OF_MODEL,
}
"""Kind of reference to a model -> those of the options that it has a use for."""


def reference_kind(model: Model) -> ReferenceKind:
    """The kind of a reference: a model in memory, one with a name of its own, from scratch, a folder, or of the Hub."""
    if not isinstance(model, str | Path):
        return "loaded"
    if is_named(reference := str(model)):
        return "named"
    if reference.startswith(scratch.PREFIX):
        return "scratch"
    place = folder_or_id(reference)
    if isinstance(place, Path):
        return "folder"
    return "revision" if place[1] else "hub"


def check_used(models: Sequence[Model], given: Mapping[str, Any]) -> None:
    """Raises a SettingsError for an option that none of the models has a use for.

    :param given: values of `OF_MODEL`
    """
    used = {name for model in models for name in USED[reference_kind(model)]}
    for name, value in given.items():
        if value not in (None, False) and name not in used:
            shown = ", ".join(one if isinstance(one, str) else type(one).__name__ for one in models)
            raise SettingsError(
                f"{shown} has no use for {opt(name.replace('_', '-'))}", fix="remove it."
            )


def load_source(
    model: Model,
    name: str | None,
    revision: str | None,
    remote_code: bool,
    folder: Path,
    casing: str | None = None,
    tokenizer: Tokenizer | None = None,
    base: str | None = None,
) -> ModelSource:
    """Resolves a model; a model from scratch gets a vocabulary from the data."""
    if name is not None:
        names.check(name, "The model name")
    if not isinstance(model, str | Path):
        from blurb.checkpoints import staged_checkpoint

        folder = staged_checkpoint.of_loaded(model, tokenizer)
        return of_folder(
            folder,
            name or staged_checkpoint.default_name(model),
            staged_checkpoint.IN_MEMORY,
            casing=casing or "",
        )
    reference = str(model)
    check_reference(reference)
    if reference.startswith(scratch.PREFIX):
        return of_folder(
            scratch.build(reference, folder), name or reference, reference, casing=casing or ""
        )
    return resolve_model(
        reference,
        name,
        revision=revision,
        remote_code=remote_code,
        casing=casing,
        tokenizer=tokenizer,
        base=base,
    )


def check_parts(folder: Path, remote_code: bool = False, with_tokenizer: bool = True) -> None:
    """Raises all faults of the files of a checkpoint; for a folder that is no checkpoint, only that."""
    checkpoint, errors = Checkpoint(folder, remote_code), ErrorCollector()
    checkpoint.check_structure()
    checkpoint.check_files(with_tokenizer, errors)
    errors.stop()


def typed_settings(
    given: Mapping[str, Any], shorthands: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Typed settings with values of their types; heads and poolings are loaded and spelled canonically.

    :param given: setting -> value; text as after `--set`
    :param shorthands: setting -> option that it was given with, if not with `--set`
    """
    typed = settings.parse_overrides(given, shorthands)
    for kind, registry in plugins.KINDS.items():
        # The import of a built-in one takes seconds, and is not needed yet.
        if kind in typed and not registry.is_builtin(typed[kind]):
            plugins.load(kind, typed[kind])
            typed[kind] = canonical_spec(registry, typed[kind])
    return typed


def choose_precision(options: TrainOptions, elsewhere: bool) -> str:
    """The resolved precision, which is part of a trial; SettingsError if the device lacks it.

    :param elsewhere: whether the trials run on other machines
    """
    from blurb.training import hardware

    if elsewhere:
        devices.check_name(options.device)
        return options.precision
    return hardware.choose_precision(options.precision, hardware.choose_device(options.device))


def check_row_names(given: Iterable[str]) -> None:
    """Raises a SettingsError if a name is not valid for a row, or two models have the same name."""
    errors = ErrorCollector()
    for name, count in Counter(given).items():
        with errors:
            names.check(name, "The model name")
        if count > 1:
            errors.add(
                SettingsError(
                    f"Two models have the name '{name}'",
                    fix=f"run them separately, each with its own {opt('name')}.",
                )
            )
    errors.stop()


def make_reader(model: str, folder: Path, casing: str | None = None) -> Read:
    """Returns the function that tokenizes a split with a model's tokenizer."""
    return reader_of(load_source(model, None, None, False, folder, casing))


def merge_refusals(refusals: Iterable[tuple[BlurbError, str, str]]) -> list[BlurbError]:
    """The errors of models on tasks (by name); errors that differ only in these names are merged.

    The merged error names the others that it holds for.
    """
    alike = by_key(
        ((type(each[0]), each[0].where, each[0].template, each[0].fix), each) for each in refusals
    )
    merged: list[BlurbError] = []
    for (error, first, task), *others in alike.values():
        if all(str(one) == str(error) for one, *_ in others):
            merged.append(error)
            continue
        tasks = by_key((model, other) for _, model, other in others)
        alike_models = by_key(
            ((model == first, tuple(concerned)), model) for model, concerned in tasks.items()
        )
        where = [
            ", ".join(names) if own else f"{', '.join(models)} on {', '.join(names)}"
            for (own, names), models in alike_models.items()
        ]
        if list(alike_models) == [(False, (task,))]:  # one task: the models say it
            where = [", ".join(tasks)]
        merged.append(SettingsError(f"{error} The same holds of {'; '.join(where)}."))
    return merged
