"""Estimates printed before training: time, memory and disk, and the protocol that fits a budget."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from blurb.runs.cost.budget import Rung
    from blurb.runs.cost.model import Estimate
    from blurb.runs.plan import Planned
    from blurb.tasks import Task

COLUMNS = ("task", "trials", "time", "between", "memory", "disk")


def announce(
    planned: Sequence[Planned], jobs: int, dry_run: bool, found: Estimate | None = None
) -> tuple[list[Planned], Estimate | None]:
    """Prints what the trials will take, on stderr (dry run: stdout), and returns the plans with predicted times.

    A failed estimate never stops the training: either the trial fails for the same reason and says so, or the estimate
    is wrong.

    :param found: the estimate, if `--budget` needed it already
    """
    from blurb.runs.cost import model

    try:
        found = found or model.estimate(planned, jobs)
    except Exception as error:  # noqa: BLE001
        click.secho(f"No estimate available: {_reason(error)}", fg="yellow", err=True)
        return list(planned), None
    if found.waiting or dry_run:  # otherwise the lines of the trials say at once that all are done
        show(found, planned[0].request.store, err=not dry_run)
    return model.predicted(planned, found), found


def show(found: Estimate, store: Path, err: bool) -> None:
    """Prints a table by dataset and the totals in one sentence."""
    from blurb.cli import _output
    from blurb.runs.cost.budget import duration, size
    from blurb.runs.cost.history import ENOUGH
    from blurb.wording import plural

    if not found.waiting:
        click.echo(f"All {plural(len(found.trials), 'trial')} are done." if len(found.trials) > 1 else
                   "The trial is done.", err=err)  # fmt: skip
        return
    by_task = {name: part for name, part in found.tasks.items() if part.waiting}
    if len(by_task) > 1:
        rows = [
            (name, len(part.waiting), duration(part.seconds), _between(part), size(part.memory),
             size(part.store + part.cache))
            for name, part in by_task.items()
        ]  # fmt: skip
        _output.show(COLUMNS, rows, "table", numbers=COLUMNS[1:], stderr=err)
    about = "" if found.history >= ENOUGH else "about "
    click.echo(
        f"{plural(len(found.waiting), 'trial')}, {found.jobs} at a time: {about}{duration(found.seconds)} "
        f"({_between(found)}), {size(found.memory)} of memory, {size(found.store)} in {store}, "
        f"{size(found.cache)} in the cache.", err=err,
    )  # fmt: skip
    click.echo(_basis(found), err=err)
    for warning in _warnings(found, store):
        click.secho(warning, fg="yellow", err=True)


def by_budget(
    text: str, tasks: Sequence[Task], jobs: int, prepare: Callable[[Rung, Sequence[Task]], Planned], err: bool
) -> tuple[list[Planned], Estimate]:
    """Chooses the plan that fits the budget, and prints the predicted time of every rung.

    A rung that the settings or the model do not allow is listed as such and skipped.

    :param prepare: plans the trials of a rung
    :returns: the plan and its estimate
    :raises SettingsError: if nothing fits, nothing can be predicted, or no rung can be run
    """
    from blurb.errors import BlurbError, SettingsError
    from blurb.runs.cost import budget, model
    from blurb.runs.cost.inputs import Inputs

    seconds, known = budget.seconds_of(text), Inputs()
    plans: list[Planned] = []
    ladder: list[Rung] = []
    refused: SettingsError | None = None
    for rung in budget.LADDER:
        try:
            plans.append(prepare(rung, tasks))
            ladder.append(rung)
        except SettingsError as error:
            refused = error
            click.echo(f"  {rung.name:20} not possible: {_reason(error)}", err=err)
    if refused is not None and not plans:
        raise refused
    try:
        found = [model.estimate([plan], jobs, known) for plan in plans]
    except BlurbError:
        raise
    except Exception as error:  # an encoder that cannot be run, and nothing may be chosen blindly
        raise SettingsError(f"--budget: cannot predict the time ({_reason(error)}); use --protocol instead.") from error
    choice = budget.choose(found, seconds, ladder)
    for rung, each in zip(ladder, found, strict=True):
        chosen = rung == ladder[choice.rung]
        words = "chosen" if chosen and choice.whole else "chosen for some tasks" if chosen else ""
        click.echo(f"  {rung.name:20} {duration_of(each):>12}  {words}".rstrip(), err=err)
    rung = ladder[choice.rung]
    if choice.whole:
        click.echo(f"Budget {text}: {rung.name}.", err=err)
        return [plans[choice.rung]], found[choice.rung]
    left = [task.name for task in tasks if task.name not in choice.tasks]
    click.echo(f"Budget {text}: {rung.name} on {','.join(choice.tasks)}; no time for {','.join(left)}.", err=err)
    inside = {task.name: task for task in tasks}
    return [prepare(rung, [inside[name] for name in choice.tasks])], found[choice.rung].of(choice.tasks)


def duration_of(found: Estimate) -> str:
    """The estimated time as text; "done" if nothing has to run."""
    from blurb.runs.cost.budget import duration

    return duration(found.seconds) if found.waiting else "done"


def _between(found: Estimate) -> str:
    from blurb.runs.cost.budget import duration

    low, high = map(duration, found.range)
    if low == high:
        return low
    number, _, unit = low.partition(" ")
    return f"{number if high.endswith(f' {unit}') else low} to {high}"


def _basis(found: Estimate) -> str:
    from blurb.wording import plural

    if found.history:
        return (
            f"Based on a calibration of this machine, corrected with {plural(found.history, 'finished trial')} or more."
        )
    return "Based on a calibration of this machine; not yet checked against finished trials of this store."


def _warnings(found: Estimate, store: Path) -> list[str]:
    """Memory or disk that the machine lacks, where the system reports it."""
    from blurb.runs.cost.budget import size

    said = []
    with contextlib.suppress(OSError, ValueError, AttributeError):  # not every system tells
        there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if found.memory > there:
            said.append(f"This machine has only {size(there)} of memory; reduce --jobs or the batch size.")
    with contextlib.suppress(OSError):
        place = next(folder for folder in (store.absolute(), *store.absolute().parents) if folder.exists())
        free = shutil.disk_usage(place).free
        if found.store + found.cache > free:
            said.append(f"The disk of {place} has only {size(free)} free.")
    return said


def _reason(error: Exception) -> str:
    from blurb.errors import BlurbError

    return str(error) if isinstance(error, BlurbError) else f"{type(error).__name__}: {error}"
