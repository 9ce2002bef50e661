"""`blurb data prepare`: convert the original releases to BLURB's layout."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

import click

from blurb import tasks
from blurb.cli._made import click_command
from blurb.cli._options import TASKS
from blurb.corpora.build import MissingRelease
from blurb.corpora.build import prepare as make
from blurb.messages.errors import DataError
from blurb.options import Option
from blurb.records import Count
from blurb.records import columns as keys
from blurb.terminal.output import show

if TYPE_CHECKING:
    from blurb.tasks import Task


class Prepared(TypedDict):
    """What was converted from an original release."""

    task: Annotated[str, "name of the task, as in `blurb tasks`"]
    unit: Annotated[str, "what the sizes count"]
    train: Annotated[Count | None, "size of train; null unless it was written"]
    dev: Annotated[Count | None, "size of dev; null unless it was written"]
    test: Annotated[Count | None, "size of test; null unless it was written"]
    verdict: Annotated[
        Literal["identical", "counts only", "differs", "not known", "missing", "broken", "not preparable"], "outcome"
    ]
    seconds: Annotated[float, "time that it took"]


@click_command("prepare", prints=list[Prepared])
def prepare(
    *,
    raw: Annotated[Path, Option(help="Folder with the original releases.")],
    out: Annotated[Path, Option(help="Folder for the files in BLURB's layout.")],
    selection: Annotated[str, TASKS] = "all",
    form: str,
) -> None:
    """Convert the original releases to BLURB's files.

    They may be anywhere below --raw, unpacked or as archives.

    Missing releases are listed with their download page; the others are converted and verified. A dataset replaces an
    older one only when it is complete. Exit code 0 if all were prepared, 1 if some are missing, 2 if an original is
    broken or --out cannot be written.
    """
    chosen = tasks.load_selection(selection)
    if not raw.is_dir():
        raise DataError("the folder of the original releases does not exist.", raw)
    rows: list[tuple[Any, ...]] = []
    missing: list[tuple[Task, str]] = []
    errors: list[str] = []
    remarks: list[str] = []
    for task in chosen:
        start = perf_counter()
        counts: tuple[int | None, ...] = (None, None, None)
        if not task.builder:
            outcome = "not preparable"
            missing.append((task, "its task names no builder."))
        else:
            click.echo(f"{task.title} ...", err=True)
            try:
                found, notes = make(task, raw, out)
                outcome, counts = str(found.verdict), tuple(found.counts.values())
                remarks += notes
                if found.verdict == "differs":
                    remarks.append(f"{task.title}: prepared, but this is not BLURB's data (see blurb data verify).")
            except MissingRelease as error:
                outcome = "missing"
                missing.append((task, str(error)))
            except DataError as error:
                outcome = "broken"
                errors.append(f"{task.title}: {error}")
        rows.append((task.name, task.unit, *counts, outcome, round(perf_counter() - start, 3)))
    if form == "table":
        rows = [(*("-" if cell is None else cell for cell in row[:-1]), f"{row[-1]:.1f}") for row in rows]
    columns = ("dataset", *keys(Prepared)[1:]) if form == "table" else keys(Prepared)
    show(columns, rows, form, numbers=(*tasks.SPLITS, "seconds"))
    for remark in remarks:
        click.secho(remark, fg="yellow", err=True)
    for task, problem in missing:
        click.echo(_where_to_get(task, problem), err=True)
    for message in errors:
        click.secho(message, fg="red", err=True)
    if errors or missing:
        raise SystemExit(2 if errors else 1)


def _where_to_get(task: Task, problem: str) -> str:
    lines = [f"\n{task.title} is missing: {problem}"]
    if task.source:
        lines += [f"  get it from: {task.source.page}", f"  save as:     {task.source.files}"]
    lines.append(f"  licence:     {task.licence}")
    if task.source and task.source.note:
        lines.append(f"  note:        {task.source.note}")
    return "\n".join(lines)
