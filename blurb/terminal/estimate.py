"""What is printed before training: planned trials, their time and memory, and the protocol that fits a budget."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from blurb.messages.text import duration, plural, size
from blurb.store import rescore
from blurb.store.store import Store
from blurb.terminal import output

if TYPE_CHECKING:
    from blurb.cost.budget import Affordable
    from blurb.cost.model import Estimate
    from blurb.planning.trials import Planned


COLUMNS = ("task", "trials", "time", "memory")


def show(estimate: Estimate, err: bool) -> None:
    """Prints a table by dataset and the totals in one sentence."""
    if not estimate.waiting:
        click.echo(
            f"All {plural(len(estimate.trials), 'trial')} are done."
            if len(estimate.trials) > 1
            else "The trial is done.",
            err=err,
        )
        return
    by_task = {name: part for name, part in estimate.tasks.items() if part.waiting}
    if len(by_task) > 1:
        rows = [(name, len(part.waiting), duration_of(part), size(part.memory)) for name, part in by_task.items()]
        output.show(COLUMNS, rows, "table", numbers=COLUMNS[1:], stderr=err)
    click.echo(
        f"{plural(len(estimate.waiting), 'trial')}, {estimate.jobs} at a time: "
        f"{'about' if estimate.seconds else 'time'} {duration_of(estimate)}, {size(estimate.memory)} of memory.",
        err=err,
    )
    click.echo(_basis(estimate), err=err)


NOT_IN_BUDGET = "It is for the trials; planning and measuring this machine, some seconds, are not part of it."


def show_budget(budget: str, chosen: Affordable, err: bool) -> None:
    """Prints the predicted time of every rung, and which was chosen."""
    for rung, reason in chosen.refused.items():
        click.echo(f"  {rung.name:20} not possible: {reason}", err=err)
    for rung, each in chosen.rungs.items():
        words = "" if rung != chosen.rung else "chosen for some tasks" if chosen.left_out else "chosen"
        click.echo(f"  {rung.name:20} {duration_of(each):>12}  {words}".rstrip(), err=err)
    if not chosen.left_out:
        click.echo(f"Budget {budget}: {chosen.rung.name}. {NOT_IN_BUDGET}", err=err)
        return
    names = ",".join(task.name for task in chosen.planned.request.tasks)
    click.echo(
        f"Budget {budget}: {chosen.rung.name} on {names}; no time for {','.join(chosen.left_out)}. {NOT_IN_BUDGET}",
        err=err,
    )


def duration_of(found: Estimate) -> str:
    """The estimated time as text; "done" if nothing has to run."""
    if not found.waiting:
        return "done"
    known = any(trial.foreseen or trial.cost.seconds for trial in found.waiting)
    return duration(found.seconds) if known else "unknown"


def _basis(found: Estimate) -> str:
    text = "Based on a calibration of this machine; not yet checked against finished trials of this store."
    if unknown := sum(not (trial.foreseen or trial.cost.seconds) for trial in found.waiting):
        text = f"Unknown times ({plural(unknown, 'trial')}) count as nothing; finished trials of this store tell them."
    elif found.history:
        text = f"Based on {plural(found.history, 'finished trial')} or more, and on a calibration for encoders."
    return f"{text} {busy}" if (busy := _load()) else text


def _load() -> str:
    """That other work shares this machine, if it does; "" if not, or if it cannot be told."""
    try:
        load, cores = os.getloadavg()[0], os.cpu_count() or 1
    except (AttributeError, OSError):
        return ""
    if load <= cores:
        return ""
    return f"The machine is busy (load {load:.1f} on {cores} cores): all will take longer while it is."


def list_trials(planned: Sequence[Planned], cells: Sequence[str] = ()) -> None:
    """Prints the planned trials and which of them are done.

    :param cells: names of the plans, if they are the cells of an ablation
    """
    rows = [row for at, plan in enumerate(planned) for row in _rows(plan, cells[at] if cells else None)]
    columns = (
        "kind",
        "cell" if cells else "model",
        "task",
        "seed",
        "lr",
        "batch",
        "epochs",
        "length",
        "state",
        "trial",
    )
    output.show(columns, rows, "table", numbers=columns[3:8])
    click.echo(f"{plural(len(rows), 'trial')}. Nothing was run or written.")


def _rows(plan: Planned, cell: str | None) -> list[tuple[object, ...]]:
    store = Store(plan.request.store)
    rows = []
    for kind, jobs in (("search", plan.searched), ("run", plan.final)):
        for job in jobs:
            settings = job.trial.settings
            open_ = kind == "run" and plan.searched and job.learner.searches
            rows.append(
                (
                    kind,
                    cell or job.source.name,
                    job.trial.task,
                    job.trial.seed,
                    *(
                        "from search" if open_ and key in plan.request.protocol.search else settings.get(key, "")
                        for key in ("lr", "batch_size", "epochs", "max_length")
                    ),
                    "from search" if open_ else "done" if rescore.is_current(store, job.path) else "to run",
                    "" if open_ else job.trial.hash,
                )
            )
    return rows
