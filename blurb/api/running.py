"""Runs trials for `blurb run` and `blurb ablate`: announced, with progress, the tables rewritten in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from blurb.api.generator_lock import generator_lock
from blurb.api.results import Results
from blurb.api.throttled import Throttled
from blurb.cost import model
from blurb.cost.budget import choose_protocol
from blurb.execution import engines
from blurb.messages.errors import BlurbError, Tell, safe_message, tell_damage
from blurb.planning import plan, preflight
from blurb.planning.options import RunOptions
from blurb.planning.quick_checks import left_out, warnings_of
from blurb.results import tables
from blurb.store.store import Store
from blurb.terminal import estimate
from blurb.terminal.estimate import show_budget
from blurb.terminal.planned import list_trials
from blurb.terminal.progress import Display

if TYPE_CHECKING:
    from blurb.cost.model import Estimate
    from blurb.execution.engine import Engine
    from blurb.execution.job import Job, TrialOutcome
    from blurb.planning.plan import Planned, Request
    from blurb.results.row_scores import RowScores


def execute(options: RunOptions) -> Results:
    """Runs what is not done, writes the tables, and returns the requested rows; with `check` also its decisions.

    Threads of one process take turns.

    :raises BlurbError: before anything is trained; `Several` if several things are wrong
    """
    with generator_lock(options.progress):
        return _executed(options)


def _executed(options: RunOptions) -> Results:
    request, engine, rules = preflight.checked(options)
    planned, expected = _plan(request, engine)
    if request.dry_run:
        return Results((), request.store)
    store, leaderboard = Store(request.store), engine.launch.leaderboard
    assert leaderboard is not None

    def rebuild(tell: Tell = tell_damage) -> list[RowScores]:
        return tables.rebuild(store, leaderboard, tell)

    preflight.check_engine_is_there(planned, engine)
    outcomes = run_trials(planned, expected, lambda: rebuild(_unheard), engine=engine)
    wanted = [planned[0].request.row_key(source) for source in request.sources]
    everything = rebuild()
    rows, others = (tuple(row for row in everything if (row.key in wanted) is mine) for mine in (True, False))
    failed = tuple(outcome for outcome in outcomes if outcome.status == "failed")
    submitted = tuple(outcome for outcome in outcomes if outcome.status == "submitted")
    if options.check is None or rules is None or failed:
        return Results(rows, store.root, failed, others=others, submitted=submitted)
    from blurb.api.comparing import check  # statistics, which most runs do not need

    decisions = tuple(check(row, options.check, rules, output=store.root, across=rules.across) for row in rows)
    return Results(rows, store.root, decisions=decisions, others=others)


def run_trials(
    planned: Sequence[Planned],
    expected: Estimate | None,
    rebuild: Callable[[], Any],
    name: Callable[[Job], str] = lambda job: "",
    engine: Engine | None = None,
) -> list[TrialOutcome]:
    """Runs the trials, and tells of them if it shall.

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
        outcomes = plan.run(planned, engine or engines.here(request.jobs), finished, on_progress)
    for outcome in outcomes if request.progress else ():
        if outcome.status == "failed":
            which = f"{name(outcome.job) or outcome.job.source.name} on {outcome.job.trial.task}"
            text = f"Failed: {which}, seed {outcome.job.trial.seed}: {outcome.message}"
            click.secho(text, fg="red", err=True)
    return outcomes


def announced(
    planned: Sequence[Planned],
    expected: Estimate | None = None,
    cells: Sequence[str] = (),
    engine: Engine | None = None,
) -> tuple[list[Planned], Estimate | None]:
    """Prints what the trials will take, and returns the plans with predicted times.

    A failed estimate never stops the training: either the trial fails for the same reason and says so, or the estimate
    is wrong.

    :param expected: the estimate, if there is one already
    :param cells: names of the plans, if they are the cells of an ablation
    :param engine: will run them; None is this machine
    """
    request = planned[0].request
    if request.dry_run:
        list_trials(planned, cells)
    try:
        expected = expected or model.estimate(planned, request.jobs)
    except Exception as error:  # noqa: BLE001
        if request.progress:
            click.secho(f"No estimate available: {safe_message(error)}", fg="yellow", err=True)
        _warn(planned, None, engine)
        return list(planned), None
    if request.dry_run or (expected.waiting and request.progress):  # else the trials say at once that all are done
        estimate.show(expected, err=not request.dry_run)
        _warn(planned, expected, engine)
    return model.predicted(planned, expected), expected


def _warn(planned: Sequence[Planned], expected: Estimate | None, engine: Engine | None) -> None:
    request = planned[0].request
    warnings = warnings_of(planned, expected, engine or engines.here(request.jobs))
    if request.all_found:
        warnings = [*left_out(planned), *warnings]
    for text in warnings if request.dry_run or request.progress else ():
        click.secho(text, fg="yellow", err=True)


def _plan(request: Request, engine: Engine) -> tuple[Sequence[Planned], Estimate | None]:
    """The trials, announced with their cost; with a budget those of the protocol that fits."""
    if request.budget is None:
        planned = [plan.prepare(request)]
        if not request.dry_run:  # a calibration takes seconds, and would be for nothing
            preflight.check_engine_is_there(planned, engine)
        return announced(planned, engine=engine)
    rung = partial(preflight.rung_of, request)
    chosen = choose_protocol(request.budget, list(request.tasks), request.jobs, rung)
    if request.progress:
        show_budget(request.budget, chosen, err=not request.dry_run)
    return announced([chosen.planned], chosen.estimate, engine=engine)


def _unheard(damage: BlurbError) -> None:
    """Ignores damage that this run may repair; what is left is reported at the end."""
