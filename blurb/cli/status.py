"""`blurb status`: what is done, who runs what, what failed, and what is left."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import click
from rich import box
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from blurb import records
from blurb.cli._exit import PARTLY
from blurb.cli._made import click_command
from blurb.execution import trial_states
from blurb.execution.job import TrialProgress
from blurb.execution.trial_states import TrialStanding
from blurb.grouping import by_key
from blurb.messages import StoreError, format_duration, option_to_paste
from blurb.options import Option
from blurb.planning.options import OUTPUT
from blurb.records import Count, From, Rule
from blurb.store.store import Store
from blurb.store.trial import stored_types
from blurb.terminal.output import json_text, make_console
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
    if form == "json":
        if watch:
            raise click.UsageError("--watch is for the terminal; leave out --format json.")
        trials = _read_standings(output)
        counts = {
            state.replace(" ", "_"): count for state, count in trial_states.counts(trials).items()
        }
        open_ = [records.of(Open, trial) for trial in trials if trial.state != "done"]
        left = trial_states.seconds_left(trials)
        click.echo(json_text({"trials": counts, "seconds_left": left, "open": open_}), nl=False)
    else:
        out = make_console()
        trials = _read_standings(output)
        if watch:
            trials = _watch_standings(output, out, trials)
        else:
            out.print(_status_page(trials, output))
    if any(one.state == "failed" for one in trials):
        raise SystemExit(PARTLY)


def _read_standings(output: Path) -> list[TrialStanding]:
    if not output.is_dir():
        raise StoreError(f"There is no store at {output}", fix="check --output.")
    return trial_states.read(Store(output))


def _watch_standings(output: Path, out: Any, trials: list[TrialStanding]) -> list[TrialStanding]:
    with Live(_status_page(trials, output), console=out, auto_refresh=False) as live:
        while any(one.state in ("running", "to run") for one in trials):
            started = time.monotonic()
            time.sleep(EVERY)
            trials = _read_standings(output)
            live.update(_status_page(trials, output), refresh=True)
            time.sleep(max(0.0, 10 * (time.monotonic() - started - EVERY) - EVERY))
    return trials


def _status_page(trials: Sequence[TrialStanding], output: Path) -> RenderableType:
    where = option_to_paste("--output", output, "runs")
    count = trial_states.counts(trials)
    parts: list[Any] = []
    if open_ := [trial for trial in trials if trial.state != "done"]:
        parts.append(_rows_with_open_trials(trials, {(trial.model, trial.row) for trial in open_}))
    if running := [trial for trial in open_ if trial.state == "running"]:
        parts.append(
            _status_table(
                "Running",
                ("trial", "where", "since (UTC)", "how far"),
                map(_running_cells, running),
            )
        )
    if failed := [trial for trial in open_ if trial.state == "failed"]:
        table = _status_table(
            "Failed",
            ("trial", "reason"),
            ((_name_trial(trial), trial.message) for trial in failed[:SHOWN]),
        )
        parts += [
            table,
            *([Text(f"... and {len(failed) - SHOWN} more")] if len(failed) > SHOWN else []),
        ]
        again = (
            f"blurb retry{where}"
            if all(trial.joined for trial in failed)
            else "the same blurb run command"
        )
        parts.append(Text(f"To run them again: {again}"))
    left = trial_states.seconds_left(trials)
    total = f"{count['done']} of {len(trials)} trials done"
    others = [f"{count[state]} {state}" for state in trial_states.STATES[1:] if count[state]]
    hint = f"; about {format_duration(left)} left" if left is not None else ""
    if count["to run"] and not running:
        joined = any(trial.joined for trial in open_ if trial.state == "to run")
        hint = "; nobody runs them: run the same command again" + (
            f", or blurb worker{where}" if joined else ""
        )
    parts.append(Text(", ".join([total, *others]) + hint))
    return Group(*parts)


def _rows_with_open_trials(
    trials: Sequence[TrialStanding], shown: set[tuple[str, str]]
) -> RenderableType:
    """The rows with something open, in order."""
    of_row = by_key(((one.model, one.row), one) for one in trials if (one.model, one.row) in shown)
    lines = []
    for (model, row), mine in of_row.items():
        count = trial_states.counts(mine)
        configuration = mine[0].configuration if row else "search"
        lines.append(
            (model, configuration, *(str(count[state] or "") for state in trial_states.STATES))
        )
    return _status_table("", ("model", "row", *trial_states.STATES), lines)


def _running_cells(trial: TrialStanding) -> tuple[str, str, str, str]:
    if trial.holder is None:
        return _name_trial(trial), "?", "?", "?"
    kinds = stored_types(TrialProgress)
    news: dict[str, Any] = {
        name: one for name, one in trial.holder.news.items() if type(one) in kinds.get(name, ())
    }
    far = describe_progress(TrialProgress(**news))
    return (
        _name_trial(trial),
        f"{trial.holder.host}, {trial.holder.pid}",
        trial.holder.since[:16].replace("T", " "),
        far,
    )


def _name_trial(one: TrialStanding) -> str:
    return f"{one.model} {one.task} seed {one.seed}"


def _status_table(
    title: str, columns: Sequence[str], lines: Iterator[Any] | Sequence[Any]
) -> RenderableType:
    table = Table(
        *columns, title=title or None, title_justify="left", box=box.SIMPLE_HEAD, title_style="bold"
    )
    for line in lines:
        table.add_row(*(Text(str(value)) for value in line))
    return table
