"""From a request to trials: models x tasks x seeds under a protocol, and the search of some protocols."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from blurb import formulations, learners
from blurb.checkpoints import ModelSource
from blurb.cost.budget import Rung
from blurb.execution import sweeps
from blurb.execution.data_sources import DataSource, data_hash
from blurb.execution.engine import Engine
from blurb.execution.job import Job, OnFinished, OnProgress, TrialOutcome
from blurb.grouping import by_key
from blurb.heads import heads
from blurb.heads._spec import canonical_spec, parse_spec
from blurb.learners import LearnerKind, building, protocol_learner
from blurb.messages import BlurbError, ErrorCollector, ModelError, SettingsError, opt
from blurb.planning.request import Request
from blurb.planning.steps import load_protocol, merge_refusals
from blurb.protocols.settings import DEFAULTS, FIELDS, show_setting
from blurb.store import plugins, row_trials as rows
from blurb.store.store import Store
from blurb.store.trial import Trial
from blurb.tasks import Task


def job(
    request: Request,
    source: ModelSource,
    task: Task,
    seed: int,
    point: Mapping[str, Any] | None = None,
) -> Job:
    """One trial; `point` is a point of the protocol's search grid.

    :raises SettingsError: if model, head, inputs and task cannot work together
    """
    overrides = {**(point or {}), **request.overrides}
    searched = (point or {}).keys() - request.overrides.keys()
    kind = request.learner(source)
    table = kind.name if kind.own_training else ""
    settings = request.protocol.settings(task, overrides, source.parameters, table)
    formulation = formulations.bind(task, settings)

    def where(setting: str) -> str:
        if setting in searched:
            return f"search of protocol {request.protocol.name}"
        return request.where(task, setting, table)

    for setting in request.overrides:
        protocol_learner.check_settings(kind, [setting], where(setting))
    building.check(kind, source, formulation, where)
    formulation.check_size(min(settings.max_eval or 2, settings.dev_sample or 2))
    # Baselines have no layers to compute twice.
    checkpointing = request.checkpointing if kind.reads_checkpoint else "auto"
    if checkpointing == "on" and not getattr(
        source.checkpoint.outline, "supports_gradient_checkpointing", False
    ):
        raise SettingsError(
            f"{opt('checkpointing', 'on')}: {{model}} does not support it.", model=source.name
        )
    origin = DataSource(task.file or task.name, request.data)
    if formulation.needs_original:
        if request.raw is None:
            raise SettingsError(
                "BLURB's files of {task} have dummies instead of entity names; the relation input "
                f"{show_setting(settings, 'relation_input', where)} needs the names",
                fix=f"add {opt('raw')} with the folder of the original release.",
                task=task.name,
            )
        origin = replace(origin, folder=request.raw, original=True)
    concerning = hashed_settings(formulation, kind)
    if concerning.get("attention") == "bidirectional" and not source.checkpoint.is_causal:
        del concerning["attention"]  # it is so already
    trial = Trial(
        task=task.name,
        weights=source.weights,
        tokenizer=source.tokenizer,
        data=data_hash(origin),
        settings=concerning,
        seed=seed,
        precision=request.precision if kind.precisions else "fp32",
        recipe=kind.recipe,
        plugins=plugins.identity(task, concerning, kind),
        learner=learners.in_trial(kind),
    )
    return Job(
        trial,
        source,
        request.configuration(source),
        origin,
        request.store,
        request.device,
        request.track or "",
        plugins.typed(),
        keep=request.keep_model if kind.save else "none",
        resume=request.resume_trials,
        checkpointing=checkpointing,
    )


def seeds_of(request: Request, source: ModelSource, task: Task) -> tuple[int, ...]:
    """The seeds to run; one for a deterministic learner."""
    kind, count = request.learner(source), request.seeds
    assert not isinstance(count, str), "a word, of what decides about the number, is no request"
    # Otherwise several seeds are meant for other models, or for whatever a script is given.
    if kind.deterministic and kind.reads_checkpoint and (count or 1) > 1:
        noun = kind.rows.noun
        raise SettingsError(
            f"{noun[0].upper()}{noun[1:]} is deterministic: {count} seeds would give the same number {count} times.",
            fix=f"Remove {opt('seeds')}.",
        )
    seeds = request.protocol.seeds(task, count)
    return seeds[:1] if kind.deterministic else seeds


@dataclass(frozen=True)
class Planned:
    """A request with its trials.

    :param searched: trials of the search, if the protocol has one
    :param final: trials of the rows; until a search is finished, with the protocol's settings instead of the winner's
    """

    request: Request
    searched: Sequence[Job]
    final: Sequence[Job]

    @property
    def jobs(self) -> list[Job]:
        """All trials, those of the search first."""
        return [*self.searched, *self.final]


def prepare(request: Request) -> Planned:
    """Plans the trials of a request; reads and hashes its data.

    :raises BlurbError: all faults, each once for all models and tasks it holds for: model, head, inputs and task
        that cannot work together, or unreadable data
    """
    errors = ErrorCollector()
    searched: list[Job] = []
    final: list[Job] = []
    refusals = []
    for source in request.sources:
        kind = request.learner(source)
        for task in request.tasks:
            try:
                # Every point of the grid with the first seed; none keeps its model.
                grid = request.protocol.grid(request.overrides, task.name) if kind.searches else []
                first = seeds_of(request, source, task)[0]
                points = [job(request, source, task, first, point) for point in grid]
                searched += [replace(each, keep="none") for each in points]
                final += _final_jobs(request, source, task)
            except BlurbError as error:
                refusals.append((error, source.name, task.name))
    for one in merge_refusals(refusals):
        errors.add(one)
    errors.stop()
    return Planned(request, searched, final)


def _final_jobs(
    request: Request, source: ModelSource, task: Task, point: Mapping[str, Any] | None = None
) -> list[Job]:
    """The trials of a row on a task, with the settings that a search chose, if there was one.

    They differ only in their seeds and share their settings in memory.
    """
    first, *others = seeds_of(request, source, task)
    one = job(request, source, task, first, point)
    return [one, *(replace(one, trial=replace(one.trial, seed=seed)) for seed in others)]


def run(
    planned: Sequence[Planned], engine: Engine, on_finished: OnFinished, on_progress: OnProgress
) -> list[TrialOutcome]:
    """Runs the searches and then all trials, and records in the store which trials make a row.

    The trials of all requests go to the engine together, so that its workers stay busy until the end.

    :param on_finished: called when a trial ends
    :param on_progress: called with the progress of a running trial
    """
    keep_sweep = any(plan.request.keep_sweep for plan in planned)
    for plan in planned:
        store = Store(plan.request.store)
        with store.locked():
            for source in plan.request.sources:
                store.claim(source.name)
    searched = [each for plan in planned for each in plan.searched]
    outcomes = engine.run(searched, on_finished, on_progress, keep_sweep) if searched else []
    jobs: list[Job] = []
    for plan in planned:
        final = _after_search(plan) if plan.searched else plan.final
        jobs += final
        by_source = by_key((each.source, each.trial) for each in final)
        store = Store(plan.request.store)
        with store.locked():
            for source, trials in by_source.items():
                by_task = by_key((trial.task, (trial.seed, trial.hash)) for trial in trials)
                row = replace(
                    plan.request.row(source),
                    trials={task: dict(hashes) for task, hashes in by_task.items()},
                    families={trial.task: trial.family for trial in trials},
                    plugins={trial.task: trial.plugins for trial in trials if trial.plugins},
                    rates=remarks_on_rates(plan.request, source, trials),
                )
                rows.write(store, row, met=plan.request.met(source))
    return outcomes + engine.run(jobs, on_finished, on_progress, keep_sweep)


def _after_search(plan: Planned) -> list[Job]:
    """The final trials with the winning settings and their predicted times."""
    request, store = plan.request, Store(plan.request.store)
    axes = {**request.protocol.search, **request.protocol.adapter_search}
    tried = by_key(
        ((each.source.name, each.trial.task), each)
        for each in plan.searched
        if store.is_done(each.path)  # failed trials are skipped
    )
    winners: dict[tuple[str, str], Mapping[str, Any]] = {}
    for key, points in tried.items():
        best = max(points, key=lambda each: store.read(each.path).score("dev"))  # the first if tied
        settings = best.trial.settings  # without what does not concern the task
        winners[key] = {axis: settings[axis] for axis in axes if axis in settings}
    final = [
        job
        for source in request.sources
        for task in request.tasks
        # Otherwise all points of its search failed.
        if not request.learner(source).searches or (source.name, task.name) in winners
        for job in _final_jobs(request, source, task, winners.get((source.name, task.name)))
    ]
    predicted = {
        (job.source.name, job.trial.task, job.trial.seed): job.predicted for job in plan.final
    }
    return [
        replace(
            job, predicted=predicted.get((job.source.name, job.trial.task, job.trial.seed), 0.0)
        )
        for job in final
    ]


def remarks_on_rates(
    request: Request, source: ModelSource, planned: Iterable[Trial]
) -> dict[str, str]:
    """Task -> remark on model class and learning rate for readers of the row; only tasks with a remark."""
    family = own = ""
    with suppress(ModelError):  # its files may be gone after a long search; a baseline has none
        if source.is_checkpoint:
            own, family = (
                source.checkpoint.ignored_code,
                str(source.checkpoint.config_json.get("model_type", "")),
            )
    searches = request.learner(source).searches and "lr" not in request.overrides
    said = (
        (one.task, own, request.protocol.remark(one.settings, family) if searches else "")
        for one in planned
    )
    return {task: "; ".join(filter(None, texts)) for task, *texts in said if any(texts)}


def hashed_settings(formulation: formulations.Formulation, kind: LearnerKind) -> dict[str, Any]:
    """The settings that can change the result of a trial; only these are part of its identity."""
    settings = formulation.settings
    values = asdict(settings)
    foreign = formulations.foreign_settings(formulation)
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
    if "pooling" in own and (
        not formulation.pooled or parse_spec(heads, settings.head)[0].reads_sequence
    ):
        del own["pooling"]
    for name, registry in plugins.KINDS.items():
        if name in own:
            own[name] = canonical_spec(registry, own[name])
    return own


def plan_rung(request: Request, rung: Rung, some: Sequence[Task]) -> Planned:
    """Plans the trials of some tasks under a protocol that a budget may choose."""
    protocol = load_protocol(rung.protocol, request.suite)
    return prepare(replace(request, protocol=protocol, seeds=rung.seeds, tasks=some))


def check_engine_is_there(planned: Sequence[Planned], engine: Engine) -> None:
    """Raises a BlurbError if trials are to run and this machine lacks what their engine needs."""
    try:
        engine.check_there()
    except BlurbError:
        if not all(sweeps.has_nothing_left(job) for one in planned for job in one.jobs):
            raise
