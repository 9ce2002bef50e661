"""`blurb runs`: the rows of a store as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypedDict

import click

from blurb.api.runs import (
    edit_row,
    find_row,
    finish_edit,
    remove_row as remove_row,
    rename_row as rename_row,
    stored_rows,
    verify_trials,
)
from blurb.cli._exit import PARTLY
from blurb.cli._group import Group
from blurb.cli._made import LEADERBOARD_AFTER, click_command
from blurb.execution import row_edits
from blurb.messages import SettingsError, UnknownName, count_noun, format_megabytes
from blurb.options import Argument, Option
from blurb.planning.options import OUTPUT
from blurb.records import Count, From, record_columns
from blurb.results import tables
from blurb.store import row_contents, row_trials
from blurb.store.store import Store
from blurb.system.files import size_of
from blurb.terminal.output import Column, print_records, print_rows


class RowSummary(TypedDict):
    """A row of a store."""

    row: Annotated[str, "model and configuration", From("name")]
    planned: Annotated[Count, "trials that it shall have", From(lambda row: len(row.trials))]
    done: Annotated[Count, "trials of it that are done", From(lambda row: row.count("done"))]
    running: Annotated[
        Count, "trials of it that are running", From(lambda row: row.count("running"))
    ]
    failed: Annotated[Count, "trials of it that are failed", From(lambda row: row.count("failed"))]
    damaged: Annotated[
        Count, "trials of it that are damaged", From(lambda row: row.count("damaged"))
    ]
    to_run: Annotated[
        Count, "trials of it that are still to run", From(lambda row: row.count("to run"))
    ]
    bytes: Annotated[Count, "size of its trials", From("size")]
    last: Annotated[str, "when the last finished one began (UTC); empty without any"]
    tags: Annotated[list[str], "tags of the row", From("planned.tags")]


class TrialSummary(TypedDict):
    """A trial of a row."""

    task: Annotated[str, "name of the task, as in `blurb tasks`"]
    seed: Annotated[Count, "seed"]
    state: Annotated[Literal["done", "running", "failed", "damaged", "to run"], "state"]
    dev: Annotated[
        float | None,
        "score on dev, times 100; null unless it is done",
        From(lambda one: one.score("dev")),
    ]
    test: Annotated[float | None, "score on test, times 100", From(lambda one: one.score("test"))]
    seconds: Annotated[float | None, "of training and prediction"]
    path: Annotated[str, "folder of the trial"]
    message: Annotated[str, "why it is not done"]


class Damaged(TypedDict):
    """A finished trial with damaged files."""

    path: Annotated[str, "folder of the trial"]
    damaged: Annotated[str, "its damaged or missing files, comma-separated"]


ROW_COLUMNS = (
    Column("row", "name"),
    Column("done", lambda row: f"{row.count('done')}/{len(row.trials)}", "s"),
    Column("failed", lambda row: row.count("failed") + row.count("damaged") or "", ","),
    Column("MB", lambda row: format_megabytes(row.size), "s"),
    Column("last trial", lambda row: row.last[:16].replace("T", " "), "s"),
    Column("tags", lambda row: " ".join(row.planned.tags)),
)
TRIAL_COLUMNS = (
    Column("task"),
    Column("seed", number="d"),
    Column("state"),
    Column("dev", lambda trial: trial.score("dev"), ".2f"),
    Column("test", lambda trial: trial.score("test"), ".2f"),
    Column("seconds", number=".1f"),
    Column("path"),
)


@click_command("runs", prints=list[RowSummary], cls=Group)
def command(*, output: Annotated[Path, OUTPUT] = Path("runs"), form: str) -> None:
    """List, show, edit, rename or remove the rows of a store.

    The list has finished and planned trials, size on disk and when the last finished trial began (UTC).
    """
    store = Store(output)
    rows = stored_rows(store)
    columns = ROW_COLUMNS if any(row.planned.tags for row in rows) else ROW_COLUMNS[:-1]
    if not print_records(form, RowSummary, rows, columns):
        return
    others = row_contents.unlisted(store, [row.planned for row in rows])
    if others:
        size = format_megabytes(sum(map(size_of, others)))
        click.echo(
            f"In no row: {count_noun(len(others), 'trial')} of searches and earlier seeds, {size} MB."
        )


@click_command("show", prints=list[TrialSummary], within=command)
def show_row(
    row: Annotated[str, Argument(complete="rows")],
    *,
    output: Annotated[Path, OUTPUT] = Path("runs"),
    form: str,
) -> None:
    """Show the trials of ROW.

    State, scores times 100, seconds of training and prediction, folder.

    ROW is MODEL, 'MODEL CONFIGURATION' if it has several rows, or FOLDER:ROW of another store.
    """
    stored = find_row(output, row)
    if form == "table":
        click.echo(f"{stored.name}: {stored.count('done')} of {len(stored.trials)} trials done")
    if not print_records(form, TrialSummary, stored.trials, TRIAL_COLUMNS):
        return
    for trial in stored.trials:
        if trial.message:
            click.echo(f"{trial.task}, seed {trial.seed}, {trial.state}: {trial.message}")


@click_command("verify", prints=list[Damaged], within=command)
def verify(
    row: Annotated[str | None, Argument(complete="rows")] = None,
    *,
    output: Annotated[Path, OUTPUT] = Path("runs"),
    form: str,
) -> None:
    """Check the files of finished trials by their hashes.

    With ROW those of one row, else all trials of the store. blurb run and the tables look at sizes and times of files
    only: a flipped bit is found here. Exit code: 1 if something is damaged.
    """
    number, damaged = verify_trials(Store(output), row)
    if damaged or form != "table":
        print_rows(
            record_columns(Damaged),
            [(str(path), ", ".join(files)) for path, files in damaged.items()],
            form,
        )
    if form == "table":
        told = (
            f"{len(damaged)} damaged: run their blurb run command again."
            if damaged
            else "all are as they were stored."
        )
        click.echo(f"{count_noun(number, 'trial')} verified; {told}")
    if damaged:
        raise SystemExit(PARTLY)


@click_command("rename", within=command)
def rename(
    row: Annotated[str, Argument(complete="rows")],
    name: Annotated[str, Argument(metavar="NEWNAME")],
    *,
    output: Annotated[Path, OUTPUT] = Path("runs"),
    leaderboard: Annotated[Path | None, LEADERBOARD_AFTER] = None,
) -> None:
    """Give ROW the model name NEWNAME.

    Its trials are copied under the new name; then those that no other row has are deleted under the old one. Refused
    while a trial of the model is running. If it is interrupted, run the same command again.
    """
    table = tables.place(output, leaderboard)
    try:
        stored = find_row(output, row)
    except (SettingsError, UnknownName):
        if (message := finish_edit(Store(output), row, table, name)) is None:
            raise
        click.echo(f"{row} was renamed before. {message}")
        return
    message = rename_row(stored, name, tables.place(stored.store.root, leaderboard))
    click.echo(f"{stored.name} is now {name}{stored.name.removeprefix(stored.planned.model)}.")
    click.echo(message)


@click_command("edit", within=command)
def edit(
    row: Annotated[str, Argument(complete="rows")],
    *,
    trained_on: Annotated[
        str,
        Option(
            help="What the model had met of its datasets before it was trained here.",
            choices=tuple(row_trials.TRAINED_ON),
        ),
    ],
    output: Annotated[Path, OUTPUT] = Path("runs"),
    leaderboard: Annotated[Path | None, LEADERBOARD_AFTER] = None,
) -> None:
    """Change what is remarked on ROW.

    texts: the texts without labels, or a corpus that very probably holds them, as PubMed's abstracts do; train, test:
    that split with labels. It is shown beside the row, and is no part of what it is: no trial runs again.
    """
    stored = find_row(output, row)
    message = edit_row(stored, trained_on, tables.place(stored.store.root, leaderboard))
    click.echo(f"{stored.name}: met before: {trained_on}. {message}")


@click_command("rm", within=command)
def remove(
    row: Annotated[str, Argument(complete="rows")],
    *,
    output: Annotated[Path, OUTPUT] = Path("runs"),
    leaderboard: Annotated[Path | None, LEADERBOARD_AFTER] = None,
    yes: Annotated[bool, Option(help="Do not ask for confirmation.")] = False,
) -> None:
    """Delete ROW and those of its trials that no other row has.

    Lists the trials and their size, and asks. Refused while a trial of the model is running. If it is interrupted, run
    the same command again.
    """
    table = tables.place(output, leaderboard)
    try:
        stored = find_row(output, row)
    except (SettingsError, UnknownName):
        if (message := finish_edit(Store(output), row, table)) is None:
            raise
        click.echo(f"{row} was deleted before. {message}")
        return
    doomed = row_edits.removal(stored.store, stored.planned)
    click.echo(
        f"{stored.name}: {count_noun(len(doomed.trials), 'trial')} of its own will be deleted."
    )
    if doomed.shared:
        click.echo(
            f"{count_noun(len(doomed.shared), 'trial')} will stay, as other rows share them."
        )
    if doomed.unlisted:
        several = count_noun(len(doomed.unlisted), "trial")
        click.echo(
            f"It is the last row of {stored.planned.model}: {several} that no row has will be deleted, too."
        )
    click.echo(f"{doomed.size:,} bytes ({format_megabytes(doomed.size)} MB) will be freed.")
    if not yes:
        click.confirm("Delete them?", abort=True)
    _, message = remove_row(stored, tables.place(stored.store.root, leaderboard))
    click.echo(f"Deleted {stored.name}. {message}")
