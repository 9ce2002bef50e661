"""Checks of what was asked for: options, references and settings, one by one and together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb import formulations, learners, names, tasks
from blurb.checkpoints import adapter, references, scratch
from blurb.cost.budget import budget_seconds
from blurb.execution import engines
from blurb.execution.data_sources import data_verdict
from blurb.execution.engine import Engine
from blurb.grouping import by_key
from blurb.heads import OF_TAGS
from blurb.inputs.relations import DUMMIES
from blurb.learners import is_named, protocol_learner
from blurb.messages import ErrorCollector, SettingsError, count_noun, opt, option_to_paste
from blurb.planning import steps
from blurb.planning.options import RUN, Model, NamedModel, RunOptions, TrainOptions
from blurb.protocols.protocol import Protocol
from blurb.protocols.settings import DEFAULTS, FIELDS
from blurb.tasks import Task
from blurb.training import devices, tracking

if TYPE_CHECKING:
    from blurb.execution.estimate import Estimate
    from blurb.planning.request import Request
    from blurb.planning.trials import Planned

HIGHEST_RATE = 0.01
"""Learning rate above which no fine-tuning of a pretrained encoder is known to succeed."""


def check_engine(options: RunOptions, engine: Engine, errors: ErrorCollector) -> None:
    """Adds an error for each request that the engine cannot fulfil."""
    if options.print_script and not engine.hands_over:
        others = [name for name, kind in engines.engines.usable().items() if kind.hands_over]
        errors.add(
            SettingsError(
                f"{opt('print')} shows the script of an engine that submits one: add "
                f"{opt('engine', ' or '.join(others))}."
            )
        )
    if options.check is not None and engine.hands_over:
        errors.add(
            SettingsError(
                f"{opt('check')} needs the results, which submitted jobs bring later: then run blurb check."
            )
        )
    if options.precision == "auto" and engine.elsewhere:
        errors.add(
            SettingsError(
                "The trials run on other machines, whose hardware is not known here: say "
                f"{opt('precision', 'bf16')}, fp32 or fp16."
            )
        )
    with errors:
        if engine.elsewhere:
            devices.check_name(options.device)
        else:
            devices.check_here(options.device, options.precision)
    with errors:
        # In an existing store every trial may be done, which needs no engine.
        if not options.dry_run and not Path(options.output).exists():
            engine.check_there()


def check_combination(options: RunOptions, errors: ErrorCollector) -> None:
    """Adds an error for each invalid option, and for options that exclude each other."""
    if options.name is not None:
        with errors:
            names.check(options.name, "The model name")
    with errors:
        if options.track:
            tracking.check(options.track)
    if options.dummy_tokens and options.relation_input not in (None, *DUMMIES):
        other = opt("relation-input", options.relation_input)
        errors.add(
            SettingsError(f"{opt('dummy-tokens')} cannot be combined with {other}; remove one.")
        )
    given = [opt(name) for name in ("protocol", "seeds") if getattr(options, name) is not None]
    if options.budget is not None:
        with errors:
            budget_seconds(options.budget)
            if given:
                raise SettingsError(
                    f"{opt('budget')} chooses the protocol and its seeds",
                    fix=f"remove {given[0]} or {opt('budget')}.",
                )
    for name in ("rules", "across"):
        if getattr(options, name) and options.check is None:
            errors.add(
                SettingsError(f"{opt(name)} needs {opt('check')} with the row to compare with.")
            )


OF_KINDS = {"resume_trials": "resumes", "checkpointing": "searches", "keep_model": "save"}
"""Options that serve some kinds of learners, by what these have."""


def check_models(
    models: Sequence[NamedModel], options: TrainOptions, errors: ErrorCollector
) -> None:
    """Adds the faults that references and the files of their folders show before anything is loaded."""
    if not models:
        errors.add(
            SettingsError(
                "There is no model to run",
                fix=f"name a MODEL, or a table of them with {opt('models', 'FILE')}.",
            )
        )
    if options.name and len(models) > 1:
        errors.add(SettingsError(f"{opt('name')} needs exactly one MODEL."))
    for named in models:
        with errors:
            _check_model(named.model, options)
    if not errors.errors:
        with errors:
            given = {name: getattr(options, name) for name in steps.OF_MODEL}
            steps.check_used([named.model for named in models], given)


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


def check_inputs(
    chosen: Sequence[Task],
    protocol: Protocol,
    settings: Mapping[str, Any],
    shorthands: Mapping[str, str],
    errors: ErrorCollector,
) -> None:
    """Adds an error for each relation input or head that does not fit a task."""
    faults = []
    for task in chosen if {"head", "relation_input"} & settings.keys() else ():
        own = ErrorCollector()
        with own:
            formulation = formulations.bind(task, protocol.settings(task, settings, parameters=0))
            _ = formulation.needs_original
            # Other kinds of learners check their heads themselves.
            if "head" in settings and protocol_learner.kind_of(protocol).searches:
                of_tags = formulation.settings.head.partition(",")[0] in OF_TAGS
                formulation.check_head(
                    ("tokens",) if of_tags else None, lambda name: shorthands.get(name, opt("set"))
                )
        faults += [(error, "", task.name) for error in own.errors]
    for error in steps.merge_refusals(faults):
        errors.add(error)


def check_overrides(planned: Sequence[Planned]) -> None:
    """Raises a SettingsError for each setting without effect on every trial: its row would have those of another."""
    errors, jobs = ErrorCollector(), [job for plan in planned for job in plan.jobs]
    for name, value in [item for plan in planned for item in plan.request.overrides.items()]:
        # A later setting is part of a trial only where it differs from its default.
        if any(
            name in job.trial.settings
            or (name == "relation_input" and job.data.original)  # decides what is read
            or (FIELDS[name].later and value == DEFAULTS[name] and name in job.trial.kind.settings)
            for job in jobs
        ):
            continue
        where = planned[0].request.options.get(name, opt("set", name))
        fits = [
            f"{learners.PREFIX}{key}"
            for key, kind in learners.named_kinds().items()
            if name in kind.settings and name not in learners.DEFAULT.settings
        ]
        more = f"; it is for {', '.join(fits)}." if fits else "."
        errors.add(
            SettingsError(f"{where} changes nothing in these trials", fix=f"leave it out{more}")
        )
    errors.stop()


def check_together(request: Request, options: RunOptions, engine: Engine) -> None:
    """Raises a SettingsError for options that do not go with the models or the protocol."""
    kinds = [request.learner(source) for source in request.sources]
    for name, fact in OF_KINDS.items():
        given = getattr(options, name) != RUN[name].default
        if given and not any(getattr(kind, fact) for kind in kinds):
            nouns = " and ".join(dict.fromkeys(kind.rows.noun for kind in kinds))
            raise SettingsError(
                f"{opt(name.replace('_', '-'))} has no effect on {nouns}", fix="remove it."
            )
    searched = any(kind.searches for kind in kinds) and any(
        request.protocol.grid(request.overrides, task.name) for task in request.tasks
    )
    if searched and not options.dry_run and engine.hands_over:
        raise SettingsError(
            f"The protocol {request.protocol.name} has a search, and its final trials are planned when the search is "
            f"over: run it on this machine, without {opt('engine')}, and let blurb worker on the cluster join it."
        )


def warnings_of(planned: Sequence[Planned], expected: Estimate | None, engine: Engine) -> list[str]:
    """Warnings before a run about what may not be what was meant; each says what to do.

    :param expected: None if nothing could be predicted
    """
    texts = []
    there = {task.name for plan in planned for task in plan.request.tasks}
    every = (tasks.load_selection("all", plan.request.suite) for plan in planned)
    lost = dict.fromkeys(task.name for each in every for task in each if task.name not in there)
    if lost and any(plan.request.all_found for plan in planned):
        texts.append(
            f"Without {', '.join(lost)}, which the data folder lacks: `blurb data get` says what they need."
        )
    if expected is not None and not expected.waiting:
        return texts
    jobs = [job for plan in planned for job in plan.jobs]
    settings = [job.trial.settings for job in jobs if job.source.is_checkpoint]
    highest = max((float(each["lr"]) for each in settings if "lr" in each), default=0.0)
    if highest > HIGHEST_RATE:
        texts.append(
            f"lr={highest:g} is above {HIGHEST_RATE:g}; pretrained encoders are fine-tuned with rates such as 3e-5."
        )
    cosines = [each for each in settings if each.get("pooling") == "cosine"]
    if any(each.get("head_dropout") or each.get("head_init") != "linear" for each in cosines):
        texts.append(
            "pooling=cosine gives the head one number, whose scale few updates find, and which its dropout would drop; "
            f"it wants {opt('set', 'head_init=linear')} {opt('set', 'head_dropout=0')}."
        )
    real = [job for plan in planned if plan.request.suite != "demo" for job in plan.jobs]
    sources = dict.fromkeys(job.data for job in real if not job.data.original)
    doubtful = by_key(
        (verdict, source)
        for source in sources
        if (verdict := data_verdict(source)) in ("counts only", "differs")
    )
    if doubtful:
        listed = "; ".join(
            f"{verdict}: {', '.join(source.task for source in each)}"
            for verdict, each in doubtful.items()
        )
        number, folder = sum(map(len, doubtful.values())), next(iter(sources)).folder
        texts.append(
            f"Not verified as BLURB's, as the rows will say: {number} of {count_noun(len(sources), 'dataset')} "
            f"({listed}). To see where: blurb data verify{option_to_paste('--data', folder)}"
        )
    if expected is not None:
        texts += engine.shortfalls(expected)
        if not engine.elsewhere:
            from blurb.cost.work import lacking_memory

            texts += lacking_memory(expected)
    return texts
