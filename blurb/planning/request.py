"""A request: what a run is asked for, made of its options in one pass; all that is wrong is one list.

What is typed wrongly, and what the files of data and checkpoints show by themselves, is told within a second or two,
before torch is loaded. If all of that is right, tokenizers, weights and device are read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blurb import fields, formulations, learners, names, tasks
from blurb.checkpoints import ModelSource, adapter, references, scratch
from blurb.cost.budget import budget_seconds
from blurb.execution import engines
from blurb.execution.engine import Engine, Launch
from blurb.execution.options import TrialOptions
from blurb.heads import OF_TAGS
from blurb.inputs.relations import DUMMIES
from blurb.learners import LearnerKind, building, is_named, protocol_learner
from blurb.messages import ErrorCollector, SettingsError, opt
from blurb.planning import steps
from blurb.planning.options import Model, NamedModel, RunOptions, TrainOptions
from blurb.protocols.protocol import Protocol
from blurb.regression import Rules
from blurb.regression.rules import read_rules
from blurb.results import tables
from blurb.results.references import row_of
from blurb.store import row_trials as rows
from blurb.store.trial import Configuration
from blurb.tasks import Task
from blurb.training import devices, tracking

NOT_YET_CHECKED = "More may be wrong: tokenizer and device are checked after these."


@dataclass(frozen=True)
class Request(TrialOptions):
    """The resolved arguments of `blurb run`, beside the options that trials have as they are.

    :param overrides: settings from the command line
    :param options: setting -> option that overrides it, if that is not `--set`
    :param precision: resolved
    :param raw: folder of the original releases, for inputs that need them
    :param keep_sweep: whether workers may still join if the run is ended before any trial is finished
    :param tags: name of a row -> its tags
    :param all_found: whether nobody chose the tasks, and these are what the data folder has
    :param budget: time for which a protocol is chosen, as it was typed
    """

    sources: Sequence[ModelSource]
    tasks: Sequence[Task]
    protocol: Protocol
    data: Path
    store: Path
    precision: str
    overrides: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    raw: Path | None = None
    all_found: bool = False
    budget: str | None = None
    keep_sweep: bool = False
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def configuration(self, source: ModelSource) -> Configuration:
        """The configuration of a model's row."""
        protocol, kind = self.protocol, self.learner(source)
        # Only what can change its answers tells its rows apart.
        overrides = {name: value for name, value in self.overrides.items() if name in kind.settings}
        precision = self.precision if kind.precisions else ""
        asked = protocol_learner.kind_of(protocol)
        note = protocol.note if asked in (kind, learners.DEFAULT) else ""  # a baseline is no probe
        return Configuration(protocol.name, protocol.hash, overrides, precision, self.suite, note)

    def where(self, task: Task, setting: str, baseline: str = "") -> str:
        """The origin of a setting's value, for messages: a command-line option or the protocol."""
        if setting in self.overrides:
            return self.options.get(setting, opt("set"))
        return self.protocol.where(task, setting, baseline)

    def learner(self, source: ModelSource) -> LearnerKind:
        """The kind of learner: that of the protocol for a checkpoint, else the one that stands in a model's place."""
        return building.kind_of(source, self.protocol.learner)

    def row(self, source: ModelSource) -> rows.RowTrials:
        """The row of a model, still without trials."""
        kind = self.learner(source)
        return rows.RowTrials(
            source.name, source.weights, source.tokenizer, kind.recipe, self.configuration(source), {}, {},
            learner=learners.in_trial(kind), tags=self.tags.get(source.name, ()),
        )  # fmt: skip

    def row_key(self, source: ModelSource) -> str:
        """The key of that row."""
        return self.row(source).key


def make_request(options: RunOptions) -> tuple[Request, Engine, Rules | None]:
    """The request of `blurb run`, the engine that runs its trials, and the rules of its check.

    :raises BlurbError: the only thing that is wrong; `ErrorGroup` if there are more
    """
    errors = ErrorCollector()
    options = fields.drop_invalid(options, errors)
    with errors:
        protocol = steps.load_protocol(options.protocol, options.suite)
    table = tables.place(options.output, options.leaderboard)
    with errors:
        engine = engines.parse(options.engine, Launch(options.jobs, table, options.print_script))
        _check_engine(options, engine, errors)
    with errors:
        steps.check_writable("output", Path(options.output))
    if options.leaderboard is not None:
        with errors:
            steps.check_writable("leaderboard", table.parent)
    with errors:
        tables.check_places(options.output, options.leaderboard)
    chosen = _choose_tasks(options, errors)
    with errors:
        rules = _read_rules(options, chosen)
    with errors:
        folder, raw = _find_data(options, chosen)
    settings = _read_settings(options, chosen, errors)
    _check_combination(options, errors)
    with errors:
        models = options.named_models
        _check_models(models, options, errors)
    errors.stop(NOT_YET_CHECKED)
    # A baseline says itself which heads and inputs it has, and a budget chooses another protocol.
    if options.budget is None and not all(is_named(one.model) for one in models):
        _check_inputs(chosen, protocol, settings, options.shorthands, errors)
    errors.stop(NOT_YET_CHECKED)
    # From here on torch is loaded: seconds for who has typed all of it right.
    request = _load_request(
        options, protocol, chosen, settings, folder, raw, models, engine.elsewhere
    )
    if engine.hands_over:  # to jobs that end with their time
        request = dataclasses.replace(request, resume_trials=True)
    _check_together(request, options, engine)
    return request, engine, rules


def make_request_of_cells(
    options: TrainOptions,
    chosen: list[Task],
    settings: Mapping[str, Any],
    shorthands: Mapping[str, str],
) -> Request:
    """The request of `blurb ablate`, whose cells differ in their settings alone.

    :param settings: of all cells, typed
    :param shorthands: setting -> option that it was given with, if not with `--set`
    :raises BlurbError: the only thing that is wrong; `ErrorGroup` if there are more
    """
    errors = ErrorCollector()
    with errors:
        protocol = steps.load_protocol(options.protocol, options.suite)
    with errors:
        folder, raw = _find_data(options, chosen)
    with errors:
        devices.check_here(options.device, options.precision)
    with errors:
        models = options.named_models
        _check_models(models, options, errors)
    errors.stop(NOT_YET_CHECKED)
    request = _load_request(options, protocol, chosen, settings, folder, raw, models)
    return dataclasses.replace(request, options=shorthands, all_found=False)


def _load_request(
    options: TrainOptions,
    protocol: Protocol,
    chosen: list[Task],
    settings: Mapping[str, Any],
    folder: Path,
    raw: Path | None,
    models: Sequence[NamedModel],
    elsewhere: bool = False,
) -> Request:
    """The request, with device and models read; all that is wrong with these is one list.

    :param folder: of the data, from which `scratch:` makes a vocabulary
    :param elsewhere: whether the trials run on other machines
    """
    errors, sources = ErrorCollector(), list[ModelSource]()
    with errors:
        if options.track:
            tracking.check(options.track)
    with errors:
        precision = steps.choose_precision(options, elsewhere)
    has_device = not errors.errors  # whoever mistyped a device does not wait for downloads
    for named in models:
        if has_device or not _is_remote(named.model):
            with errors:
                sources.append(
                    steps.load_source(
                        named.model,
                        named.name,
                        options.revision,
                        options.trust_remote_code,
                        folder,
                        options.casing,
                        options.tokenizer,
                        options.base,
                    )
                )
    with errors:
        steps.check_row_names(source.name for source in sources)
    errors.stop()
    return Request(
        sources=sources,
        tasks=chosen,
        protocol=protocol,
        data=folder,
        store=Path(options.output),
        overrides=settings,
        options=options.shorthands,
        raw=raw,
        all_found=options.tasks is None and options.suite != "demo",
        budget=getattr(options, "budget", None),
        keep_sweep=getattr(options, "keep_sweep", False),
        precision=precision,
        tags={
            source.name: named.tags
            for source, named in zip(sources, models, strict=True)
            if named.tags
        },
        **options.of_trials,
    )


def _check_engine(options: RunOptions, engine: Engine, errors: ErrorCollector) -> None:
    """Adds what an engine cannot do of what is asked for."""
    if options.print_script and not engine.hands_over:
        others = [name for name, kind in engines.engines.usable().items() if kind.hands_over]
        what = f"{opt('print')} shows the script of an engine that submits one: add"
        errors.add(SettingsError(f"{what} {opt('engine', ' or '.join(others))}."))
    if options.check is not None and engine.hands_over:
        what = f"{opt('check')} needs the results, which submitted jobs bring later: then run blurb check."
        errors.add(SettingsError(what))
    if options.precision == "auto" and engine.elsewhere:
        what = f"The trials run on other machines, whose hardware is not known here: say {opt('precision', 'bf16')}, "
        errors.add(SettingsError(f"{what}fp32 or fp16."))
    with errors:
        if engine.elsewhere:
            devices.check_name(options.device)
        else:
            devices.check_here(options.device, options.precision)
    with errors:
        # In a store that is there, all may be done, which needs no engine.
        if not options.dry_run and not Path(options.output).exists():
            engine.check_there()


def _check_combination(options: RunOptions, errors: ErrorCollector) -> None:
    """Adds options that cannot be, or do not go together."""
    if options.name is not None:
        with errors:
            names.check(options.name, "The model name")
    if options.track and not tracking.seems_installed(options.track):
        what = f"{opt('track', options.track)} needs the package {options.track}: pip install {options.track}"
        errors.add(SettingsError(what))
    if options.dummy_tokens and options.relation_input not in (None, *DUMMIES):
        other = opt("relation-input", options.relation_input)
        what = f"{opt('dummy-tokens')} cannot be combined with {other}; remove one."
        errors.add(SettingsError(what))
    given = [opt(name) for name in ("protocol", "seeds") if getattr(options, name) is not None]
    if options.budget is not None:
        with errors:
            budget_seconds(options.budget)
            if given:
                what, fix = (
                    f"{opt('budget')} chooses the protocol and its seeds",
                    f"remove {given[0]}",
                )
                raise SettingsError(what, fix=f"{fix} or {opt('budget')}.")
    for name in ("rules", "across"):
        if getattr(options, name) and options.check is None:
            what = f"{opt(name)} needs {opt('check')} with the row to compare with."
            errors.add(SettingsError(what))


def _check_models(
    models: Sequence[NamedModel], options: TrainOptions, errors: ErrorCollector
) -> None:
    """Adds what references and the files of their folders show by themselves."""
    if not models:
        fix = f"name a MODEL, or a table of them with {opt('models', 'FILE')}."
        errors.add(SettingsError("There is no model to run", fix=fix))
    if options.name and len(models) > 1:
        errors.add(SettingsError(f"{opt('name')} needs exactly one MODEL."))
    for named in models:
        with errors:
            _check_model(named.model, options)


def _check_model(model: Model, options: TrainOptions) -> None:
    if not isinstance(model, str | Path):
        return
    reference = str(model)
    steps.check_reference(reference)
    if is_named(reference):
        learners.get_named(reference)
    elif reference.startswith(scratch.PREFIX):
        scratch.size_of(reference)
    elif isinstance(place := references.folder_or_id(reference), Path):
        if options.base is not None:
            adapter.check(place, options.base)
        else:
            steps.check_parts(place, options.trust_remote_code, options.tokenizer is None)


def _is_remote(model: Model) -> bool:
    """Whether a reference is that of a model on the Hub."""
    reference = str(model) if isinstance(model, str | Path) else ""
    if not reference or is_named(reference) or reference.startswith(scratch.PREFIX):
        return False
    return not isinstance(references.folder_or_id(reference), Path)


def _check_inputs(
    chosen: Sequence[Task],
    protocol: Protocol,
    settings: Mapping[str, Any],
    shorthands: Mapping[str, str],
    errors: ErrorCollector,
) -> None:
    """Adds relation inputs and heads that do not go with a task."""
    faults = []
    for task in chosen if {"head", "relation_input"} & settings.keys() else ():
        own = ErrorCollector()
        with own:
            formulation = formulations.bind(task, protocol.settings(task, settings, parameters=0))
            _ = formulation.needs_original
            # Other kinds of learners say themselves which heads they fit.
            if "head" in settings and protocol_learner.kind_of(protocol).searches:
                of_tags = formulation.settings.head.partition(",")[0] in OF_TAGS
                kinds = ("tokens",) if of_tags else None
                formulation.check_head(kinds, lambda name: shorthands.get(name, opt("set")))
        faults += [(error, "", task.name) for error in own.errors]
    for error in steps.merge_refusals(faults):
        errors.add(error)


def _choose_tasks(options: RunOptions, errors: ErrorCollector) -> list[Task]:
    """The tasks of all words that name any; without words those whose files are there."""
    given = options.tasks or "all"
    words = given.split(",") if isinstance(given, str) else given
    known = []
    for word in filter(str.strip, words):
        with errors:
            tasks.load_selection([word])
            known.append(word)
    chosen: list[Task] = []
    with errors:
        if known or not any(map(str.strip, words)):
            chosen = tasks.load_selection(known)
    if options.tasks is None and options.suite != "demo":
        chosen = steps.available_tasks(chosen, options.data)  # type: ignore[arg-type]
    return chosen


def _read_settings(
    options: RunOptions, chosen: Sequence[Task], errors: ErrorCollector
) -> dict[str, Any]:
    """The settings of their types, without those that have faults."""
    typed: dict[str, Any] = {}
    with errors:
        for name, value in options.overrides.items():
            with errors:
                typed |= steps.typed_settings({name: value}, options.shorthands)
                _check_concerns(name, value, chosen, options.shorthands)
    return typed


def _check_concerns(
    name: str, value: Any, chosen: Sequence[Task], shorthands: Mapping[str, str]
) -> None:
    """Raises a SettingsError if a setting concerns no task: its row would have the trials of another row."""
    if name not in formulations.specific_settings() or not chosen:
        return
    if not any(name in formulations.of(task).own_settings for task in chosen):
        listed = ", ".join(task.name for task in chosen)
        where = shorthands.get(name, opt("set"))
        what = f"{name}={value} ({where}) concerns none of the tasks ({listed})"
        raise SettingsError(what, fix="leave it out.")


def _read_rules(options: RunOptions, chosen: list[Task]) -> Rules | None:
    """The rules of `check`, read before training, so that a typo costs nothing; None without it."""
    if options.check is None:
        return None
    errors = ErrorCollector()
    with errors:
        rules = read_rules(options.rules, across=options.across)
    with errors:
        # The run may repair what is damaged.
        row_of(options.check, Path(options.output), lambda text: None)
    errors.stop()
    if rules.required is None:
        return dataclasses.replace(rules, required=tuple(task.name for task in chosen))
    return rules


def _find_data(options: TrainOptions, chosen: list[Task]) -> tuple[Path, Path | None]:
    """The folders of the data and of the originals, with all files that the tasks need."""
    folder, raw = steps.find_folders(options.suite, options.data, options.raw, chosen)  # type: ignore[arg-type]
    steps.check_files(chosen, folder)
    return folder, raw


def _check_together(request: Request, options: RunOptions, engine: Engine) -> None:
    """Raises a SettingsError for options that do not go with the models or the protocol."""
    kinds = [request.learner(source) for source in request.sources]
    asked = protocol_learner.kind_of(request.protocol)
    if options.keep_model != "none" and not asked.save:
        what = f"{opt('keep-model')} keeps fine-tuned encoders; {asked.rows.noun} trains none."
        raise SettingsError(what, fix=f"Remove it, or change {opt('protocol')}.")
    if options.keep_model != "none" and not any(kind.save for kind in kinds):
        what = f"{opt('keep-model')} keeps networks, and there are only baselines that are none"
        raise SettingsError(what, fix="remove it.")
    searched = any(kind.searches for kind in kinds) and any(
        request.protocol.grid(request.overrides, task.name) for task in request.tasks
    )
    if searched and not options.dry_run and engine.hands_over:
        raise SettingsError(
            f"The protocol {request.protocol.name} has a search, and its final trials are planned when the search is "
            f"over: run it on this machine, without {opt('engine')}, and let blurb worker on the cluster join it."
        )
