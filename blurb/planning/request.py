"""From the options of a run to what is planned: settings, folders, models, precision; errors of plans, joined."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb import formulations, names, tasks
from blurb.checkpoints import ModelSource, lengths, scratch
from blurb.data import home
from blurb.data.loading import elsewhere, path_of
from blurb.grouping import by_key
from blurb.heads import heads, poolings
from blurb.heads._spec import canonical, parse
from blurb.inputs.tokenized_split import Read
from blurb.learners import LearnerKind, is_named, of_protocol
from blurb.learners.building import resolve
from blurb.messages import BlurbError, DataError, ErrorCollector, SettingsError, opt
from blurb.names import known_as
from blurb.protocols import settings
from blurb.protocols.protocol import Protocol
from blurb.protocols.settings import DEFAULTS, FIELDS
from blurb.store import plugins
from blurb.system.files import nearest
from blurb.tasks import SPLITS, TWELVE, Split, Task, select
from blurb.training import devices

if TYPE_CHECKING:
    from blurb.planning.options import Model, Tokenizer, TrainOptions


def folders(
    suite: str, data: Path | None, raw: Path | None, chosen: list[Task], has_suite: bool = True
) -> tuple[Path, Path | None]:
    """The folders of the datasets and of the original releases (None if not given).

    Task files name their own data files and need no --data.

    :param has_suite: whether the command has the option --suite
    """
    if suite == "demo":
        from blurb.corpora import demo

        if data is not None:
            raise SettingsError(
                f"{opt('suite', 'demo')} generates its own data", fix=f"remove {opt('data')}."
            )
        if raw is not None:
            raise SettingsError(
                f"{opt('suite', 'demo')} generates its own originals", fix=f"remove {opt('raw')}."
            )
        if any(task.file for task in chosen):
            raise SettingsError(
                f"{opt('suite', 'demo')} has its own tasks",
                fix=f"remove {opt('suite')} to run a task file.",
            )
        folder = demo.prepare()
        return folder, folder
    if data is None and all(task.file for task in chosen):
        return Path(chosen[0].file).parent, raw
    data = data or home.at_hand()
    if data is None:
        hint = f" (or use {opt('suite', 'demo')}, which needs no data)" if has_suite else ""
        raise SettingsError(
            f"Give the folder of the datasets with {opt('data')}{hint}. To get them: blurb data get"
        )
    return data, raw


def load_protocol(protocol: str | Path | None, suite: str) -> Protocol:
    """The protocol that a person named, or by default that of the suite; code that its file names is loaded."""
    loaded = of_protocol.load(
        str(protocol) if protocol else ("demo" if suite == "demo" else "standard")
    )
    if str(protocol).endswith(".toml"):
        plugins.load_all(loaded.tables)
    return loaded


def at_hand(chosen: list[Task], data: Path | None) -> list[Task]:
    """Those of the tasks whose files are all there; all of them if there is none, so that the error names them."""
    folder = data or home.at_hand()
    if folder is None or not folder.is_dir():
        return chosen
    return [task for task in chosen if not _missing(task, folder)] or chosen


def _missing(task: Task, folder: Path, needed: Sequence[Split] = SPLITS) -> list[str]:
    return [task.files[split] for split in needed if not path_of(task, folder, split).is_file()]


def check_files(chosen: list[Task], folder: Path, needed: Sequence[Split] = SPLITS) -> None:
    """Raises a DataError that lists every dataset without a needed split, before anything is trained."""
    if not folder.is_dir():
        why = "is a file; give its folder" if folder.exists() else "the data folder does not exist"
        raise DataError(f"{why}.", folder)
    missing = {task.name: paths for task in chosen if (paths := _missing(task, folder, needed))}
    if missing:
        others = [task for task in chosen if task.name not in missing]
        there = TWELVE if others == select(TWELVE) else ",".join(task.name for task in others)
        lost = "; ".join(f"{task} ({', '.join(paths)})" for task, paths in missing.items())
        hint = f" To run the others: {opt('tasks', there)}" if there else elsewhere(chosen, folder)
        raise DataError(f"missing files: {lost}.{hint}", folder)


def check_writable(**places: Path) -> None:
    """Raises a SettingsError if an option's folder cannot be created or written; leaves nothing behind.

    :param places: folder by option name
    """
    for option, folder in places.items():
        place = nearest(folder)
        try:
            with tempfile.TemporaryDirectory(dir=place):
                pass
        except OSError as error:
            raise SettingsError(
                f"{opt(option)}: cannot write to {folder}: {error.strerror}."
            ) from error


def check_reference(reference: str) -> None:
    """Raises a SettingsError for what cannot be a model: the name of a task, a name that is not valid UTF-8."""
    selections = tasks.selections()
    if known_as(reference, selections) in selections and not Path(reference).is_dir():
        raise SettingsError(
            f"MODEL '{reference}' is a task",
            fix=f"separate tasks by commas without blanks: {opt('tasks', 'gad,hoc')}.",
        )
    if reference != reference.encode(errors="replace").decode():
        shown = reference.encode("ascii", "backslashreplace").decode()
        raise SettingsError(
            f"The folder name '{shown}' is not valid UTF-8", fix="rename the folder."
        )


def source(
    model: Model,
    name: str | None,
    revision: str | None,
    remote_code: bool,
    folder: Path,
    casing: str | None = None,
    tokenizer: Tokenizer | None = None,
    base: str | None = None,
) -> ModelSource:
    """Resolves a model; one that starts from scratch gets a vocabulary from the data."""
    if name is not None:
        names.check(name, "The model name")
    if not isinstance(model, str | Path):
        from blurb.checkpoints import of_folder, staged_checkpoint

        folder = staged_checkpoint.of_loaded(model, tokenizer)
        return of_folder(
            folder,
            name or staged_checkpoint.default_name(model),
            staged_checkpoint.IN_MEMORY,
            casing=casing or "",
        )
    reference = str(model)
    check_reference(reference)
    given = [
        opt(name) for name, one in (("tokenizer", tokenizer), ("base", base)) if one is not None
    ]
    if given and (is_named(reference) or reference.startswith(scratch.PREFIX)):
        raise SettingsError(f"{reference} has no use for {given[0]}", fix="remove it.")
    if reference.startswith(scratch.PREFIX):
        return resolve(str(scratch.build(reference, folder)), name or reference, casing=casing)
    return resolve(
        reference,
        name,
        revision=revision,
        remote_code=remote_code,
        casing=casing,
        tokenizer=tokenizer,
        base=base,
    )


def typed_settings(
    given: Mapping[str, Any], shorthands: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Settings that a person typed, of their types; heads and poolings are loaded, and in canonical spelling.

    :param given: setting -> value; text as after `--set`
    :param shorthands: setting -> option that it was given with, if not with `--set`
    """
    typed = settings.parse_overrides(given, shorthands)
    for kind, registry in plugins.KINDS.items():
        if kind in typed and not registry.is_builtin(
            typed[kind]
        ):  # whose import takes seconds, and is not needed yet
            plugins.load(kind, typed[kind])
            typed[kind] = canonical(registry, typed[kind])
    return typed


def precision_of(options: TrainOptions, elsewhere: bool) -> str:
    """The resolved precision, which is part of a trial; SettingsError if the device does not have it.

    :param elsewhere: whether the trials run on other machines
    """
    from blurb.training import hardware

    if elsewhere:
        devices.check_name(options.device)
        return options.precision
    return hardware.choose_precision(options.precision, hardware.choose_device(options.device))


def check_names(sources: Sequence[ModelSource]) -> None:
    """Raises a SettingsError if a name is not valid for a row, or two models have the same name."""
    errors, given = ErrorCollector(), Counter(source.name for source in sources)
    for name, count in given.items():
        errors.tried(names.check, name, "The model name")
        if count > 1:
            fix = f"run them separately, each with its own {opt('name')}."
            errors.add(SettingsError(f"Two models have the name '{name}'", fix=fix))
    errors.tell()


def reader(model: str, folder: Path, casing: str | None = None) -> Read:
    """The function that tokenizes a split as a model does."""
    return lengths.reader(source(model, None, None, False, folder, casing))


def deduplicated(refusals: Iterable[tuple[BlurbError, ModelSource, Task]]) -> list[BlurbError]:
    """The errors of models on tasks, without those that differ only in the names that they were given.

    The first of these says of which others it holds.
    """
    alike = by_key(
        ((type(each[0]), each[0].where, each[0].template, each[0].fix), each) for each in refusals
    )
    return [_told(each) for each in alike.values()]


def _told(alike: Sequence[tuple[BlurbError, ModelSource, Task]]) -> BlurbError:
    """The first error, and of which other tasks (and models) it holds, if it names its own."""
    (error, first, task), *others = alike
    if all(str(one) == str(error) for one, *_ in others):
        return error
    tasks = by_key((source.name, other.name) for _, source, other in others)
    alike_models = by_key(
        ((model == first.name, tuple(concerned)), model) for model, concerned in tasks.items()
    )
    where = [
        ", ".join(names) if own else f"{', '.join(models)} on {', '.join(names)}"
        for (own, names), models in alike_models.items()
    ]
    if list(alike_models) == [(False, (task.name,))]:  # one task: the models say it
        where = [", ".join(tasks)]
    return SettingsError(f"{error} The same holds of {'; '.join(where)}.")


def hashed_settings(formulation: formulations.Formulation, kind: LearnerKind) -> dict[str, Any]:
    """The settings that can change the result of a trial; only these are part of its identity."""
    settings = formulation.settings
    values = asdict(settings)
    foreign = {*formulations.specific_settings()} - {*formulation.own_settings}
    foreign |= {
        name for name, facts in FIELDS.items() if facts.later and values[name] == DEFAULTS[name]
    }
    foreign |= {*kind.unused(formulation)}
    if not settings.max_eval:
        foreign.add("eval_seed")
    if formulation.pooled:
        foreign.add("word_pooling")
    own = {
        name: value
        for name, value in values.items()
        if name in kind.settings and name not in foreign
    }
    if "head" in own:
        own["head"] = canonical(heads, settings.head)
    if "pooling" in own and (
        not formulation.pooled or parse(heads, settings.head)[0].reads_sequence
    ):
        del own["pooling"]
    elif "pooling" in own:
        own["pooling"] = canonical(poolings, settings.pooling)
    return own
