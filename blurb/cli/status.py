"""`blurb status`: what is done, who runs what, what failed, and what is left."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import click

from blurb import records
from blurb.cli._exit import PARTLY
from blurb.cli._made import click_command
from blurb.execution import trial_states
from blurb.execution.job import TrialProgress
from blurb.execution.trial_states import STATES, TrialStanding
from blurb.grouping import by_key
from blurb.messages import format_duration, option_to_paste
from blurb.options import Option
from blurb.planning.options import OUTPUT
from blurb.records import Count, From, Rule
from blurb.store.store import Store
from blurb.store.trial import stored_types
from blurb.terminal.output import json_text, print_rows, print_sentence
from blurb.terminal.progress import describe_progress

SHOWN = 20
"""Failed trials that the table names; JSON has all."""
EVERY = 2.0
"""Seconds between two looks of --watch; at least ten times what a look takes."""


class ProgressRecord(TypedDict, total=False):
    """How far a trial is."""

    epoch: Annotated[float | None, "finished epochs"]
    epochs: Annotated[float | None, "epochs in all"]
    done: Annotated[float | None, "finished steps"]
    total: Annotated[float | None, "steps in all"]
    dev: Annotated[float | None, "score on dev, as a fraction"]


class HolderRecord(TypedDict):
    """Who runs a trial."""

    host: Annotated[str, "machine"]
    pid: Annotated[Count, "process"]
    since: Annotated[str, "when it took the trial, by its own clock (UTC)"]
    news: Annotated[ProgressRecord, "as of its last sign of life; empty before the first"]


class Open(TypedDict):
    """A trial that is not done."""

    model: Annotated[str, "name of the model"]
    row: Annotated[str, "key of its row; empty for a trial of a search"]
    configuration: Annotated[str, "of the row, as in tables"]
    task: Annotated[str, "dataset"]
    seed: Annotated[int, "seed"]
    trial: Annotated[str, "hash of the trial", From("path.name")]
    state: Annotated[Literal["running", "failed", "to run"], "where it stands"]
    message: Annotated[str, "why it failed; empty otherwise"]
    saved: Annotated[bool, "whether it goes on from a checkpoint"]
    holder: Annotated[HolderRecord | None, "who runs it"]


class Trials(TypedDict):
    """How many trials are in each state."""

    done: Annotated[Count, "trials in their place"]
    running: Annotated[Count, "trials that a process has"]
    failed: Annotated[Count, "trials that failed"]
    to_run: Annotated[Count, "trials still to run"]


class Status(TypedDict):
    """Where the trials of a store stand."""

    trials: Annotated[Trials, "how many trials are in each state"]
    seconds_left: Annotated[
        float | None,
        "predicted, for as many workers as there are now; null where nothing is known or nobody works",
        Rule("minimum", 0),
    ]
    open: Annotated[list[Open], "all trials that are not done"]


@click_command("status", prints=Status, csv=False)
def command(
    *,
    output: Annotated[Path, OUTPUT] = Path("runs"),
    watch: Annotated[bool, Option(help="Repeat until nothing is left to run.")] = False,
    form: str,
) -> None:
    """Show which trials are done, running or failed.

    On all machines that share the store.

    Running trials are shown with their process, start and last reported progress. The time left is predicted for the
    current number of workers. Exit code: 1 if trials failed.
    """
    if form == "json" and watch:
        raise click.UsageError("--watch is for the terminal; leave out --format json.")
    store = Store(output)
    store.check_exists()
    trials = trial_states.read(store)
    if form == "json":
        counts = {
            state.replace(" ", "_"): count for state, count in trial_states.counts(trials).items()
        }
        open_ = [records.of(Open, trial) for trial in trials if trial.state != "done"]
        left = trial_states.seconds_left(trials)
        click.echo(json_text({"trials": counts, "seconds_left": left, "open": open_}), nl=False)
    else:
        _show_status(trials, output)
    while watch and any(trial.state in ("running", "to run") for trial in trials):
        time.sleep(EVERY)
        started = time.monotonic()
        trials = trial_states.read(Store(output))
        click.clear()
        _show_status(trials, output)
        time.sleep(max(0.0, 10 * (time.monotonic() - started) - EVERY))
    if any(trial.state == "failed" for trial in trials):
        raise SystemExit(PARTLY)


def _show_status(trials: Sequence[TrialStanding], output: Path) -> None:
    where = option_to_paste("--output", output, "runs")
    by_state = by_key((trial.state, trial) for trial in trials)
    running, failed, waiting = (by_state.get(state, []) for state in STATES[1:])
    of_row = by_key(((trial.model, trial.row), trial) for trial in trials)
    lines = []
    for (model, row), own in of_row.items():
        count = trial_states.counts(own)
        if count["done"] < len(own):
            configuration = own[0].configuration if row else "search"
            lines.append((model, configuration, *(number or "" for number in count.values())))
    if lines:
        print_rows(("model", "row", *STATES), lines, numbers=STATES)
    if running:
        click.secho("Running", bold=True)
        columns = ("trial", "where", "since (UTC)", "how far")
        print_rows(columns, [_running_cells(trial) for trial in running])
    if failed:
        click.secho("Failed", bold=True)
        reasons = [(_name_trial(trial), trial.message) for trial in failed[:SHOWN]]
        print_rows(("trial", "reason"), reasons)
        if len(failed) > SHOWN:
            click.echo(f"... and {len(failed) - SHOWN} more")
        joined = all(trial.joined for trial in failed)
        again = f"blurb retry{where}" if joined else "the same blurb run command"
        print_sentence(f"To run them again: {again}")
    left = trial_states.seconds_left(trials)
    hint = f"; about {format_duration(left)} left" if left is not None else ""
    if waiting and not running:
        hint = "; nobody runs them: run the same command again"
        if any(trial.joined for trial in waiting):
            hint += f", or blurb worker{where}"
    total = f"{len(by_state.get('done', []))} of {len(trials)} trials done"
    others = [f"{len(by_state[state])} {state}" for state in STATES[1:] if state in by_state]
    print_sentence(", ".join([total, *others]) + hint)


def _running_cells(trial: TrialStanding) -> tuple[str, str, str, str]:
    if trial.holder is None:
        return _name_trial(trial), "?", "?", "?"
    kinds = stored_types(TrialProgress)
    news: dict[str, Any] = {
        name: one for name, one in trial.holder.news.items() if type(one) in kinds.get(name, ())
    }
    since = trial.holder.since[:16].replace("T", " ")
    far = describe_progress(TrialProgress(**news))
    return _name_trial(trial), f"{trial.holder.host}, {trial.holder.pid}", since, far


def _name_trial(one: TrialStanding) -> str:
    return f"{one.model} {one.task} seed {one.seed}"
