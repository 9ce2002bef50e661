"""Before anything is planned, queued or written: all that is wrong with what was asked for, in one list.

What is typed wrongly is told at once, without loading torch: with it comes what the files of data and checkpoints show
by themselves. If all of that is right, models, tokenizers and device are loaded, and what does not go together is told
with what cannot be loaded.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from blurb import fields, tasks
from blurb.cost.budget import Rung, budget_seconds, possible
from blurb.execution import engines, sweeps
from blurb.execution.engine import Engine, Launch
from blurb.inputs.relations import DUMMIES
from blurb.learners import DEFAULT, is_named, of_protocol
from blurb.messages import BlurbError, ErrorCollector, SettingsError, opt
from blurb.planning import quick_checks, trials
from blurb.planning.options import NamedModel, RunOptions, TrainOptions
from blurb.planning.request import (
    at_hand,
    check_files,
    check_names,
    check_writable,
    folders,
    load_protocol,
    precision_of,
    typed_settings,
)
from blurb.planning.trials import Planned, Request
from blurb.protocols.protocol import Protocol
from blurb.regression import Rules
from blurb.regression.rules import read_rules
from blurb.results import tables
from blurb.results.references import row_of
from blurb.tasks import Task
from blurb.training import tracking

NOT_YET_CHECKED = "More may be wrong: tokenizer and device are checked after these."


@dataclass(frozen=True)
class Asked:
    """The options of a run, each resolved by itself; None in the place of one that has a fault.

    :param settings: typed, without those that have faults
    :param data: folders of the datasets and of the original releases
    """

    protocol: Protocol | None
    settings: Mapping[str, Any]
    engine: Engine | None
    models: Sequence[NamedModel] | None
    tasks: list[Task]
    rules: Rules | None
    data: tuple[Path, Path | None] | None


def checked(options: RunOptions) -> tuple[Request, Engine, Rules | None]:
    """Resolve the options of `blurb run` into a request, an engine and the rules of its check.

    :raises BlurbError: the only thing that is wrong; `Several` if there are more
    """
    errors = ErrorCollector()
    options = fields.sound(options, errors)
    asked = resolve(options, errors)
    for error in _contradictions(options, asked):
        errors.add(error)
    quick_checks.look(options, asked, errors)
    looked = [ErrorCollector() for _ in asked.models or ()]
    for named, each in zip(asked.models or (), looked, strict=True):
        each.tried(quick_checks.look_at, named.model, options)
    if errors.errors or all(each.errors for each in looked):
        for fault in [fault for each in looked for fault in each.errors]:
            errors.add(fault)
        errors.tell(NOT_YET_CHECKED)
    engine = asked.engine
    assert engine is not None
    if options.track:
        errors.tried(tracking.check, options.track)
    request = _request(options, asked, errors)
    errors.tried(_check_together, request, options, engine)
    if (
        errors.errors
    ):  # else planning is what comes next, and tells it itself; so does `check_engine_is_there`
        errors.tried(_try_to_plan, request, asked)
        if not options.dry_run:
            errors.tried(engine.check_there)
    errors.tell()
    return request, engine, asked.rules


def resolve(options: RunOptions, errors: ErrorCollector) -> Asked:
    """Each option by itself; all faults go to `errors`."""
    table = tables.place(options.output, options.leaderboard)
    protocol = errors.tried(load_protocol, options.protocol, options.suite)
    settings = _settings(options, errors)
    engine = errors.tried(
        engines.parse, options.engine, Launch(options.jobs, table, options.print_script)
    )
    models = errors.tried(lambda: options.named_models)
    places = {} if options.leaderboard is None else {"leaderboard": table.parent}
    errors.tried(check_writable, output=Path(options.output), **places)
    errors.tried(tables.check_places, options.output, options.leaderboard)
    chosen = _tasks(options.tasks or "all", errors)
    if options.tasks is None and options.suite != "demo":
        chosen = at_hand(chosen, options.data)  # type: ignore[arg-type]
    rules = errors.tried(_rules, options, chosen)
    data = errors.tried(_data, options, chosen) if chosen or options.data else None
    if options.budget is not None:
        errors.tried(budget_seconds, options.budget)
    return Asked(protocol, settings, engine, models, chosen, rules, data)


def _contradictions(options: RunOptions, asked: Asked) -> Iterator[BlurbError]:
    """Collect the options that do not go together."""
    if options.dummy_tokens and options.relation_input not in (None, *DUMMIES):
        other = opt("relation-input", options.relation_input)
        yield SettingsError(f"{opt('dummy-tokens')} cannot be combined with {other}; remove one.")
    if asked.models is not None and not asked.models:
        yield SettingsError(
            "There is no model to run",
            fix=f"name a MODEL, or a table of them with {opt('models', 'FILE')}.",
        )
    if options.name and len(asked.models or ()) > 1:
        yield SettingsError(f"{opt('name')} needs exactly one MODEL.")
    given = [opt(name) for name in ("protocol", "seeds") if getattr(options, name) is not None]
    if options.budget is not None and given:
        yield SettingsError(
            f"{opt('budget')} chooses the protocol and its seeds",
            fix=f"remove {given[0]} or {opt('budget')}.",
        )
    for name in ("rules", "across"):
        if getattr(options, name) and options.check is None:
            yield SettingsError(f"{opt(name)} needs {opt('check')} with the row to compare with.")
    if asked.engine is None:
        return
    if options.print_script and not asked.engine.hands_over:
        others = " or ".join(
            name for name, kind in engines.engines.usable().items() if kind.hands_over
        )
        yield SettingsError(
            f"{opt('print')} shows the script of an engine that submits one: add {opt('engine', others)}."
        )
    if options.check is not None and asked.engine.hands_over:
        yield SettingsError(
            f"{opt('check')} needs the results, which submitted jobs bring later: then run blurb check."
        )
    if options.precision == "auto" and asked.engine.elsewhere:
        yield SettingsError(
            f"The trials run on other machines, whose hardware is not known here: say {opt('precision', 'bf16')}, "
            "fp32 or fp16."
        )


def check_engine_is_there(planned: Sequence[Planned], engine: Engine) -> None:
    """Raises a BlurbError if there are trials to run, and nothing on this machine to run them with."""
    try:
        engine.check_there()
    except BlurbError:
        if not all(sweeps.is_done(job) for one in planned for job in one.jobs):
            raise


def resolved(
    options: TrainOptions,
    chosen: list[Task],
    settings: Mapping[str, Any],
    shorthands: Mapping[str, str],
) -> Request:
    """Resolve the options of `blurb ablate` into a request.

    :param settings: typed
    :param shorthands: setting -> option that it was given with, if not with `--set`
    :raises BlurbError: the only thing that is wrong; `Several` if there are more
    """
    errors = ErrorCollector()
    protocol = errors.tried(load_protocol, options.protocol, options.suite)
    data = errors.tried(_data, options, chosen)
    errors.tell(NOT_YET_CHECKED)
    request = _request(
        options, Asked(protocol, settings, None, options.named_models, chosen, None, data), errors
    )
    errors.tell()
    return dataclasses.replace(request, options=shorthands)


def _settings(options: RunOptions, found: ErrorCollector) -> dict[str, Any]:
    """The settings of their types, without those that have faults."""
    given = found.tried(lambda: options.overrides) or {}
    typed: dict[str, Any] = {}
    for name, value in given.items():
        typed |= found.tried(typed_settings, {name: value}, options.shorthands) or {}
    return typed


def _tasks(wanted: Any, found: ErrorCollector) -> list[Task]:
    """The tasks of all words that name any."""
    words = [
        word for word in (wanted.split(",") if isinstance(wanted, str) else wanted) if word.strip()
    ]
    known = [word for word in words if found.tried(tasks.load_selection, [word])]
    return (found.tried(tasks.load_selection, known) or []) if known or not words else []


def _rules(options: RunOptions, chosen: list[Task]) -> Rules | None:
    """The rules of `check`, read before training, so that a typo costs nothing; None without it."""
    if options.check is None:
        return None
    found = ErrorCollector()
    rules = found.tried(read_rules, options.rules, across=options.across)
    found.tried(
        row_of, options.check, Path(options.output), lambda text: None
    )  # the run may repair what is damaged
    found.tell()
    if rules is not None and rules.required is None:
        return dataclasses.replace(rules, required=tuple(task.name for task in chosen))
    return rules


def _data(options: TrainOptions, chosen: list[Task]) -> tuple[Path, Path | None]:
    """The folders of the data and of the originals, with all files that the tasks need."""
    folder, raw = folders(options.suite, options.data, options.raw, chosen)  # type: ignore[arg-type]
    check_files(chosen, folder)
    return folder, raw


def _request(options: TrainOptions, asked: Asked, errors: ErrorCollector) -> Request:
    """The request of the models that can be loaded."""
    assert asked.protocol is not None
    assert asked.data is not None
    folder, raw = asked.data
    elsewhere, hands_over = (
        (asked.engine.elsewhere, asked.engine.hands_over) if asked.engine else (False, False)
    )
    precision = errors.tried(precision_of, options, elsewhere)
    # Whoever mistyped a device does not wait for downloads.
    tagged = quick_checks.sources_of(options, folder, errors, fetch=precision is not None)
    errors.tried(check_names, [source for source, _ in tagged])
    given = options.of_trials
    if hands_over:  # to jobs that end with their time
        given["resume_trials"] = True
    return trials.Request(
        sources=[source for source, _ in tagged],
        tasks=asked.tasks,
        protocol=asked.protocol,
        data=folder,
        store=Path(options.output),
        overrides=asked.settings,
        options=options.shorthands,
        raw=raw,
        all_found=options.tasks is None and options.suite != "demo" and asked.engine is not None,
        budget=getattr(options, "budget", None),
        keep_sweep=getattr(options, "keep_sweep", False),
        precision=precision or "fp32",
        tags={source.name: tags for source, tags in tagged if tags},
        **given,
    )


def _check_together(request: Request, options: RunOptions, engine: Engine) -> None:
    """Raises a SettingsError for options that do not go with the models or the protocol."""
    kinds = [request.learner(source) for source in request.sources]
    asked = of_protocol.kind_of(request.protocol)
    if options.keep_model != "none" and not asked.save:
        raise SettingsError(
            f"{opt('keep-model')} keeps fine-tuned encoders; {asked.rows.noun} trains none.",
            fix=f"Remove it, or change {opt('protocol')}.",
        )
    if (
        options.keep_model != "none"
        and not any(kind.save for kind in kinds)
        and len(kinds) == len(options.models)
    ):
        raise SettingsError(
            f"{opt('keep-model')} keeps networks, and there are only baselines that are none",
            fix="remove it.",
        )
    searched = any(kind.searches for kind in kinds) and any(
        request.protocol.grid(request.overrides, task.name) for task in request.tasks
    )
    if searched and not options.dry_run and engine.hands_over:
        raise SettingsError(
            f"The protocol {request.protocol.name} has a search, and its final trials are planned when the search is "
            f"over: run it on this machine, without {opt('engine')}, and let blurb worker on the cluster join it."
        )


def rung_of(request: Request, rung: Rung, some: Sequence[Task]) -> Planned:
    """The trials of some tasks with the protocol that a budget may choose."""
    protocol = load_protocol(rung.protocol, request.suite)
    return trials.prepare(
        dataclasses.replace(request, protocol=protocol, seeds=rung.seeds, tasks=some)
    )


def _try_to_plan(request: Request, asked: Asked) -> None:
    """Raises what planning refuses, with whatever protocol a budget would choose."""
    if sum(is_named(named.model) for named in asked.models or ()) > sum(
        not source.is_checkpoint for source in request.sources
    ):
        # One of them is not known, and settings that concern no encoder may be its own.
        own = {name: value for name, value in request.overrides.items() if name in DEFAULT.settings}
        request = dataclasses.replace(request, overrides=own)
    if request.budget is None:
        trials.prepare(request)
    else:
        possible(request.tasks, partial(rung_of, request))
