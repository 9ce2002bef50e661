"""A request: what `blurb run` was asked to do, made from its options in one pass; all faults are reported together.

Mistyped options and faults of data and checkpoint files are reported within a second or two, before torch is loaded.
Only if there are none, tokenizers, weights and device are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from blurb import fields, learners, tasks
from blurb.checkpoints import ModelSource, scratch
from blurb.execution import engines
from blurb.execution.engine import Engine, Launch
from blurb.execution.options import TrialOptions
from blurb.learners import LearnerKind, building, is_named, protocol_learner
from blurb.messages import ErrorCollector, opt
from blurb.planning import checks, steps
from blurb.planning.options import NamedModel, RunOptions, TrainOptions
from blurb.protocols.protocol import Protocol
from blurb.regression import Rules
from blurb.regression.rules import read_rules
from blurb.results import tables
from blurb.results.row import Row
from blurb.row_files.references import row_of
from blurb.store import row_trials as rows
from blurb.store.store import Store
from blurb.store.trial import Configuration
from blurb.tasks import Task
from blurb.training import devices

NOT_YET_CHECKED = "More may be wrong: tokenizer and device are checked after these."


@dataclass(frozen=True)
class Request(TrialOptions):
    """The resolved arguments of `blurb run`, beside the options that trials take unchanged.

    :param overrides: settings from the command line
    :param options: setting -> option that overrides it, if that is not `--set`
    :param precision: resolved
    :param raw: folder of the original releases, for inputs that need them
    :param keep_sweep: whether workers may still join if the run is ended before any trial is finished
    :param tags: name of a row -> its tags
    :param all_found: whether the tasks are those found in the data folder, as none were named
    :param budget: time that the chosen protocol must fit, as typed
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
        # Only settings that can change the answers distinguish rows.
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
        """The kind of learner: the protocol's for a checkpoint, otherwise the one typed in place of a model."""
        return building.kind_of(source, self.protocol.learner)

    def row(self, source: ModelSource) -> rows.RowTrials:
        """The row of a model, without trials yet."""
        kind = self.learner(source)
        return rows.RowTrials(
            source.name, source.weights, source.tokenizer, kind.recipe, self.configuration(source), {}, {},
            learner=learners.in_trial(kind), tags=self.tags.get(source.name, ()),
        )  # fmt: skip

    def met(self, source: ModelSource) -> str:
        """What a model had met before (`TRAINED_ON`), as far as its kind tells."""
        made = (source.revision or "").startswith(scratch.PREFIX)
        return "" if source.is_checkpoint and not made else "none"


def make_request(options: RunOptions) -> tuple[Request, Engine, Rules | None]:
    """Returns the request of `blurb run`, the engine for its trials, and the rules of its check.

    :raises BlurbError: the fault; `ErrorGroup` if there are several
    """
    errors = ErrorCollector()
    options = fields.drop_invalid(options, errors)
    chosen = _choose_tasks(options, errors)  # a protocol may name the tasks of files
    with errors:
        protocol = steps.load_protocol(options.protocol, options.suite)
    table = tables.place(options.output, options.leaderboard)
    with errors:
        engine = engines.parse(options.engine, Launch(options.jobs, table, options.print_script))
        checks.check_engine(options, engine, errors)
    with errors:
        steps.check_writable("output", Path(options.output))
    if options.leaderboard is not None:
        with errors:
            steps.check_writable("leaderboard", table.parent)
    with errors:
        tables.check(Store(Path(options.output)), table)
    with errors:
        rules = _read_rules(options, chosen)
    with errors:
        # An empty list of tasks is already reported, and needs no folder.
        needed = chosen or options.data
        folder, raw = _find_data(options, chosen) if needed else (Path(), None)
    settings = _read_settings(options, errors)
    checks.check_combination(options, errors)
    with errors:
        models = options.named_models
        checks.check_models(models, options, errors)
    errors.stop(NOT_YET_CHECKED)
    # A baseline checks heads and inputs itself, and a budget chooses another protocol.
    if options.budget is None and not all(is_named(one.model) for one in models):
        checks.check_inputs(chosen, protocol, settings, options.shorthands, errors)
    errors.stop(NOT_YET_CHECKED)
    # From here on torch is loaded, which takes seconds.
    request = _load_request(
        options, protocol, chosen, settings, folder, raw, models, engine.elsewhere
    )
    if engine.hands_over:  # to jobs that end with their time
        request = replace(request, resume_trials=True)
    checks.check_together(request, options, engine)
    return request, engine, rules


def make_request_of_cells(
    options: TrainOptions,
    chosen: list[Task],
    settings: Mapping[str, Any],
    shorthands: Mapping[str, str],
) -> Request:
    """Returns the request of `blurb ablate`, whose cells differ only in their settings.

    :param settings: of all cells, typed
    :param shorthands: setting -> option that it was given with, if not with `--set`
    :raises BlurbError: the fault; `ErrorGroup` if there are several
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
        checks.check_models(models, options, errors)
    errors.stop(NOT_YET_CHECKED)
    request = _load_request(options, protocol, chosen, settings, folder, raw, models)
    return replace(request, options=shorthands, all_found=False)


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
    """Returns the request with device and models read; all faults of these are reported together.

    :param folder: of the data, from which `scratch:` makes a vocabulary
    :param elsewhere: whether the trials run on other machines
    """
    errors, sources = ErrorCollector(), list[ModelSource]()
    with errors:
        precision = steps.choose_precision(options, elsewhere)
    has_device = not errors.errors  # whoever mistyped a device does not wait for downloads
    for named in models:
        if has_device or steps.reference_kind(named.model) not in ("hub", "revision"):
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
        **{**options.of_trials, "suite": tasks.load_suite(options.suite).name},
    )


def _choose_tasks(options: RunOptions, errors: ErrorCollector) -> list[Task]:
    """The named tasks; without names those whose files exist."""
    words = [*filter(str.strip, tasks.words_of(options.tasks or "all"))]
    known = []
    for word in words:
        with errors:
            tasks.load_selection([word], options.suite)
            known.append(word)
    chosen: list[Task] = []
    with errors:
        if known or not words:
            chosen = tasks.load_selection(known, options.suite)
    if options.tasks is None and options.suite != "demo":
        chosen = steps.available_tasks(chosen, options.data)  # type: ignore[arg-type]
    return chosen


def _read_settings(options: RunOptions, errors: ErrorCollector) -> dict[str, Any]:
    """The settings with values of their types, without faulty ones."""
    typed: dict[str, Any] = {}
    with errors:
        for name, value in options.overrides.items():
            with errors:
                typed |= steps.typed_settings({name: value}, options.shorthands)
    return typed


def _read_rules(options: RunOptions, chosen: list[Task]) -> Rules | None:
    """The rules of `--check`, read before training, so that a typo costs no training; None without a check."""
    if options.check is None:
        return None
    errors, rows = ErrorCollector(), list[Row]()
    with errors:
        # The run may repair damaged files.
        rows.append(row_of(options.check, Path(options.output), lambda text: None))
    with errors:
        rules = read_rules(options.rules, across=options.across, rows=rows)
    errors.stop()
    if rules.required is None:
        return replace(rules, required=tuple(task.name for task in chosen))
    return rules


def _find_data(options: TrainOptions, chosen: list[Task]) -> tuple[Path, Path | None]:
    """The folders of the data and of the originals; every file that the tasks need exists."""
    folder, raw = steps.find_folders(options.suite, options.data, options.raw, chosen)  # type: ignore[arg-type]
    steps.check_files(chosen, folder)
    return folder, raw
