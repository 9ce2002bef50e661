"""`--dry-run` of the commands that train."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from blurb.messages.text import plural
from blurb.store import rescore
from blurb.store.store import Store
from blurb.terminal.output import show

if TYPE_CHECKING:
    from blurb.planning.plan import Planned


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
    show(columns, rows, "table", numbers=columns[3:8])
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
