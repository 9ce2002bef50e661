"""Runs of trials: `blurb.run`, whose keywords are the options of the command, and what `blurb ablate` shares."""

from __future__ import annotations

import dataclasses
import inspect
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec

import click

from blurb.api.door import generator_lock
from blurb.api.results import Results
from blurb.cost.budget import choose_protocol
from blurb.execution import engines
from blurb.execution.engine import Engine
from blurb.execution.estimate import Estimate
from blurb.execution.job import Job, TrialOutcome
from blurb.messages import BlurbError, Tell, UnknownName, safe_message, tell_damage
from blurb.planning import trials
from blurb.planning.checks import check_overrides, warnings_of
from blurb.planning.options import Checkpointing, Given, Keep, NamedModel, RunOptions, Tokenizer
from blurb.planning.request import Request, make_request
from blurb.planning.run_file import with_file
from blurb.planning.trials import Planned
from blurb.protocols.settings import ELSEWHERE, FIELDS
from blurb.regression.rules import Rules
from blurb.results import tables
from blurb.results.row import Row
from blurb.row_files.references import RowReference
from blurb.store.store import Store
from blurb.terminal.progress import Display, list_trials, show_budget, show_estimate


def execute(options: RunOptions) -> Results:
    """Runs unfinished trials, writes the tables, and returns the requested rows; with `check` also its decisions.

    Threads of one process take turns.

    :raises BlurbError: before anything is trained; `ErrorGroup` if there are several faults
    """
    with generator_lock(options.progress):
        return _execute_locked(options)


def _execute_locked(options: RunOptions) -> Results:
    request, engine, rules = make_request(options)
    planned, expected = _plan_trials(request, engine)
    if request.dry_run:
        return Results((), request.store)
    store, leaderboard = Store(request.store), engine.launch.leaderboard
    assert leaderboard is not None

    def rebuild(tell: Tell = tell_damage) -> list[Row]:
        return tables.rebuild(store, leaderboard, tell)

    trials.check_engine_is_there(planned, engine)
    # Damage that this run may repair is not reported; the rest is, at the end.
    outcomes = run_trials(planned, expected, lambda: rebuild(lambda damage: None), engine=engine)
    wanted = [planned[0].request.row(source).key for source in request.sources]
    everything = rebuild()
    rows, others = (
        tuple(row for row in everything if (row.key in wanted) is mine) for mine in (True, False)
    )
    failed = tuple(outcome for outcome in outcomes if outcome.status == "failed")
    submitted = tuple(outcome for outcome in outcomes if outcome.status == "submitted")
    if options.check is None or rules is None or failed:
        return Results(rows, store.root, failed, others=others, submitted=submitted)
    from blurb.api.comparing import check  # statistics, which most runs do not need

    decisions = tuple(
        check(row, options.check, rules, output=store.root, across=rules.across) for row in rows
    )
    return Results(rows, store.root, decisions=decisions, others=others)


def run_trials(
    planned: Sequence[Planned],
    expected: Estimate | None,
    rebuild: Callable[[], Any],
    name: Callable[[Job], str] = lambda job: "",
    engine: Engine | None = None,
) -> list[TrialOutcome]:
    """Runs the trials; shows their progress and failures if the request says so.

    :param rebuild: writes the tables; called while trials run, after each that is done
    :param name: distinguishes a trial from others of its model, task and seed
    :param engine: runs them; None is this machine
    """
    request = planned[0].request
    jobs = [one for each in planned for one in each.jobs]
    searched = {one.path for each in planned for one in each.searched}
    shown = Display(jobs, searched, name, expected) if request.progress else nullcontext()
    with Throttled(rebuild) as write, shown as display:

        def finished(outcome: TrialOutcome) -> None:
            try:
                if display is not None:
                    display.finished(outcome)
            finally:  # also if Ctrl-C comes in between: the tables have every trial that is done
                if outcome.status == "done":
                    write()

        on_progress = display.on_progress if display is not None else lambda job, news: None
        outcomes = trials.run(planned, engine or engines.here(request.jobs), finished, on_progress)
    for outcome in outcomes if request.progress else ():
        if outcome.status == "failed":
            which = f"{name(outcome.job) or outcome.job.source.name} on {outcome.job.trial.task}"
            click.secho(
                f"Failed: {which}, seed {outcome.job.trial.seed}: {outcome.message}",
                fg="red",
                err=True,
            )
    return outcomes


def announce_trials(
    planned: Sequence[Planned],
    expected: Estimate | None = None,
    cells: Sequence[str] = (),
    engine: Engine | None = None,
) -> tuple[list[Planned], Estimate | None]:
    """Prints the cost of the trials if the request says so, and returns the plans with predicted times.

    A failed estimate never stops the training: either the trial fails for the same reason and says so, or the estimate
    is wrong. Without `--dry-run` or `--budget` no step is timed: finished trials alone tell an engine what to pack or
    to start first, and a single worker needs no times at all.

    :raises SettingsError: for settings without effect
    :param expected: the estimate, if there is one already
    :param cells: names of the plans, if they are the cells of an ablation
    :param engine: will run them; None is this machine
    """
    from blurb.cost.estimator import Estimator, open_trials, with_predictions  # torch

    check_overrides(planned)
    request = planned[0].request
    engine = engine or engines.here(request.jobs)
    elsewhere = engine.elsewhere
    if request.dry_run:
        list_trials(planned, cells)
    try:
        at_once = engine.trials_at_once([job for each in planned for job in each.jobs])
        if expected is None and (request.dry_run or elsewhere or at_once > 1):
            timed = request.dry_run and not elsewhere
            expected = Estimator(timed).estimate(planned, at_once)
    except Exception as error:  # noqa: BLE001
        if request.progress:
            click.secho(f"No estimate available: {safe_message(error)}", fg="yellow", err=True)
        _warn(planned, None, engine)
        return list(planned), None
    asked = elsewhere or request.budget is not None
    expected = expected or Estimate(open_trials(planned), at_once)
    if request.dry_run or (asked and expected.waiting and request.progress):
        show_estimate(expected, err=not request.dry_run)
    _warn(planned, expected, engine)
    return with_predictions(planned, expected), expected


def _warn(planned: Sequence[Planned], expected: Estimate | None, engine: Engine) -> None:
    request = planned[0].request
    heard = request.dry_run or request.progress
    for text in warnings_of(planned, expected, engine) if heard else ():
        click.secho(text, fg="yellow", err=True)


def _plan_trials(request: Request, engine: Engine) -> tuple[Sequence[Planned], Estimate | None]:
    """The trials, announced with their cost; with a budget those of the protocol that fits."""
    if request.budget is None:
        planned = [trials.prepare(request)]
        if not request.dry_run:
            trials.check_engine_is_there(planned, engine)
        return announce_trials(planned, engine=engine)
    from blurb.cost.estimator import Estimator  # torch

    estimator = Estimator(timed=not engine.elsewhere)
    chosen = choose_protocol(
        request.budget,
        list(request.tasks),
        partial(trials.plan_rung, request),
        lambda plan: estimator.estimate([plan], engine.trials_at_once(plan.jobs)),
    )
    if request.progress:
        show_budget(request.budget, chosen, err=not request.dry_run)
    return announce_trials([chosen.planned], chosen.estimate, engine=engine)


__all__ = ["NamedModel", "given_as_options", "run"]
P = ParamSpec("P")


def given_as_options(call: Callable[P, Results]) -> Callable[P, Results]:
    """The arguments of a call as `RunOptions`, which have the defaults.

    A test compares names, order, types and defaults of the signature with the list; people, editors and mypy read it.
    """

    @wraps(call)
    def run_with(*arguments: P.args, **keywords: P.kwargs) -> Results:
        return execute(options_of(call, *arguments, **keywords))

    return run_with


def options_of(call: Callable[..., Results], /, *arguments: Any, **keywords: Any) -> RunOptions:
    """The options that the arguments of a call are; UnknownName for a keyword that is none."""
    given = inspect.signature(call).bind(*arguments, **keywords).arguments
    _refuse_unknown(given.get("settings", {}))
    return RunOptions(**with_file(given))


@given_as_options
def run(
    model: Given | Sequence[Given] = (),
    tasks: str | Sequence[str] | None = None,
    *,
    suite: str = "blurb",
    data: Path | str | None = None,
    raw: Path | str | None = None,
    protocol: str | Path | None = None,
    lr: float | None = None,
    batch_size: int | None = None,
    epochs: int | None = None,
    limit: int | None = None,
    config: Path | str | None = None,
    budget: str | None = None,
    head: str | None = None,
    pooling: str | None = None,
    adapter: str | None = None,
    tagging: str | None = None,
    relation_input: str | None = None,
    dummy_tokens: bool = False,
    name: str | None = None,
    tokenizer: Tokenizer | None = None,
    base: str | None = None,
    revision: str | None = None,
    trust_remote_code: bool = False,
    casing: str | None = None,
    models_file: Path | str | None = None,
    seeds: int | None = None,
    track: str | None = None,
    keep_model: Keep = "none",
    resume_trials: bool = False,
    dry_run: bool = False,
    keep_sweep: bool = False,
    device: str = "auto",
    checkpointing: Checkpointing = "auto",
    jobs: int | str | None = None,
    precision: str = "auto",
    engine: str = "local",
    print_script: bool = False,
    output: Path | str = "runs",
    leaderboard: Path | str | None = None,
    check: RowReference | None = None,
    rules: Path | str | Rules | None = None,
    across: Sequence[str] = (),
    progress: bool = True,
    **settings: Any,
) -> Results:
    """Fine-tunes a model on BLURB, or several, and returns their rows; finished trials are not repeated.

    Trials that fail do not raise: `Results.failed` has them, with the reason. Calls from several threads of one process
    run one after another; `jobs` runs trials in parallel.

    :param model: a checkpoint folder, a Hub id, a preset, `scratch:tiny`, `baseline:majority`; a loaded
        `PreTrainedModel` (with `tokenizer`), of which a copy is saved to the cache; a `blurb.NamedModel`, which has a
        name and tags beside; or a list of these
    :param models_file: a table of more of them, as of `blurb run --models`
    :param tasks: names, types or task files, as a list or separated by commas; None: those that the data folder has
    :param data: data folder in BLURB's layout
    :param suite: name or folder of other datasets than BLURB's; "demo" for synthetic data
    :param raw: folder of the original releases, which some relation inputs need
    :param protocol: name or TOML file; None for that of the suite (`standard`)
    :param config: a TOML file of a run, whose keys are these parameters (docs/long-runs.md); what is given wins over it
    :param budget: such as "10m": the largest protocol predicted to fit, instead of `protocol`
    :param seeds: seeds 1 to N instead of the protocol's
    :param limit: examples of train, dev and test each, for a try (`max_train` and `max_eval`)
    :param output: store of the trials
    :param leaderboard: table to write, with `results.csv` in the same folder; None for no tables
    :param name: of the row, if there is one model
    :param tokenizer: of the model, if its checkpoint has none
    :param base: of the model, if that is an adapter of PEFT
    :param adapter: "lora" trains an adapter instead of the encoder itself
    :param casing: "cased" or "uncased" if the tokenizer's files are wrong
    :param precision: "fp32", "bf16" or "fp16"; "auto" is bf16 where the hardware supports it
    :param checkpointing: "on" computes activations twice instead of keeping them; "auto" if one input does not fit
    :param jobs: number of trials in parallel; "auto" and None choose it
    :param track: "tensorboard", "wandb", "mlflow" or "trackio"
    :param check: a baseline, to which each row is compared as by `blurb.check`: `Results.decisions`
    :param rules: of that check
    :param across: what may differ all the same between a row and that baseline, as of `blurb.check`
    :param keep_model: "best" keeps the trained models for `blurb.load_model`; "replace" also replaces a finished trial
        whose model cannot be made again as it was
    :param resume_trials: save a checkpoint of each trial after every epoch, from which the same call goes on
    :param keep_sweep: leave the trials to `blurb worker` also if the call is ended before any of them is finished
    :param dry_run: print the trials and their cost, and run nothing
    :param progress: print estimates and progress to stderr
    :param settings: of the protocol, over its own, such as `warmup=0` (the help of `blurb run` lists them)
    :raises BlurbError: before anything is trained, if options, data or models are invalid
    """
    raise NotImplementedError("what is given becomes `RunOptions`, by name")


def _refuse_unknown(settings: Mapping[str, Any]) -> None:
    """Raises an UnknownName for a keyword that is neither an option nor a setting, with the nearest of both."""
    options = [field.name for field in dataclasses.fields(RunOptions) if field.name != "settings"]
    for name in settings:
        if name not in FIELDS:
            raise UnknownName(
                "option or setting", name, dict.fromkeys([*options, *FIELDS]), ELSEWHERE
            )


class Throttled:
    """Repeats an action between trials (such as writing the tables), rarely enough to cost a long sweep nothing.

    As a context manager it acts once more after an interrupt, if there is news and the action is quick.

    :param act: its BlurbError and OSError are ignored; the caller acts once more at the end and reports them there
    """

    EVERY = 5.0
    """Minimum seconds between two actions."""
    SHARE = 20
    """Minimum time between two actions, as a multiple of the duration of the last one."""
    QUICK = 2.0
    """Maximum seconds for the action after an interrupt."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.act = act
        self.lock = threading.Lock()  # with several jobs, trials end in several threads
        self.due = time.monotonic() + self.EVERY
        self.took = 0.0
        self.undone = False

    def __call__(self) -> None:
        self.undone = True
        if time.monotonic() < self.due or not self.lock.acquire(blocking=False):
            return
        try:
            start, self.undone = time.monotonic(), False
            with suppress(BlurbError, OSError):
                self.act()
            end = time.monotonic()
            self.took = end - start
            self.due = end + max(self.EVERY, self.SHARE * self.took)
        finally:
            self.lock.release()

    def __enter__(self) -> Throttled:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and self.undone and self.took < self.QUICK:
            with suppress(BlurbError, OSError):
                self.act()
